package guards

import (
	"math"
	"slices"
)

// shown are a version's counters for the evidence. What is not known is left out.
func (c versionCounters) shown() map[string]any {
	m := map[string]any{}
	put := func(name string, known bool, value float64) {
		if known {
			m[name] = rounded(value)
		}
	}
	put("requestBytes", c.longest > 0, c.requestBytes.value)
	put("responseBytes", c.responseBytes.times > 0, c.responseBytes.value)
	put("requestsPerBatch", c.requests.times > 0, c.requests.value)
	put("recordsPerBatch", c.records.times > 0, c.records.value)
	put("allocsPerRequest", c.allocs.times > 0, c.allocs.value)
	put("allocBytesPerRequest", c.allocBytes.times > 0, c.allocBytes.value)
	put("readsPerResponse", c.reads >= 0, c.reads)
	put("segmentsInPerResponse", c.segmentsIn >= 0, c.segmentsIn)
	m["steadyPasses"] = c.allocs.times
	if !c.allocs.all && c.allocs.times > 0 {
		m["steadyPassesAgree"] = c.allocs.agreed
	}
	if !c.responseBytes.all && c.responseBytes.times > 0 {
		m["responsesOfSeveralLengths"] = true // something else came over the connections, too
	}
	return m
}

// against shows what differs from another version: what is equal is left out.
func against(other versionCounters, steps []step, x expected) map[string]any {
	m := map[string]any{"version": other.version, "schema": x.inWords()}
	for _, s := range steps {
		if s.by != 0 || s.exact && s.least != 0 {
			m[s.counter] = map[string]any{"by": rounded(s.by), "explained": [2]float64{rounded(s.least), rounded(s.most)}, "tolerance": rounded(s.tolerance)}
		}
	}
	if x.segmentsIn != 0 {
		m["segmentsInOfTheBroker"] = x.segmentsIn // shown, and nobody's fault
	}
	return m
}

// inexact leaves lengths out: they are compared between neighbours.
func inexact(steps []step) []step {
	return slices.DeleteFunc(slices.Clone(steps), func(s step) bool { return s.exact })
}

func rounded(x float64) float64 { return math.Round(x*1e4) / 1e4 }
