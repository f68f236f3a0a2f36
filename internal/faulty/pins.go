package faulty

import "protocolbench/internal/driver"

// Clients that ignore their pins, one way each. The selftest compares Fetch v4-v6.

const (
	PinUpwards   = "ignores-its-pin-upwards"        // a newer version is sent than the one that it is pinned to
	PinDownwards = "ignores-its-pin-downwards"      // an older one
	PinOfAll     = "ignores-all-pins"               // it is left alone under every label
	PinMeasured  = "ignores-its-pin-when-it-counts" // in a preflight it is right
	newestAsked  = 6
)

func fetchAt(version int) func(driver.Open) bool {
	return func(o driver.Open) bool { return o.Tier == 1 && o.API == "Fetch" && o.Version == version }
}

// isMeasured tells a cell of a block from a preflight, which is opened for one request.
func isMeasured(o driver.Open) bool { return o.MaxRequests > 1 }

func pinFaults() []fault {
	return []fault{
		{name: PinUpwards, wrong: fetchAt(oldestFetch), open: func(o *driver.Open) { o.Version = newestAsked }},
		{name: PinDownwards, wrong: fetchAt(newestAsked), open: func(o *driver.Open) { o.Version = oldestFetch }},
		{name: PinOfAll, wrong: func(o driver.Open) bool { return o.Tier == 1 && o.API == "Fetch" }, open: func(o *driver.Open) { o.Version = driver.Unpinned }},
		{name: PinMeasured, wrong: func(o driver.Open) bool { return fetchAt(oldestFetch)(o) && isMeasured(o) }, open: later},
	}
}
