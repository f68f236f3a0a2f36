package planted

import "protocolbench/guards"

// burn is about so many microseconds of one core.
const burn = `
var plantedSink uint64

func plantedBurn(micros int) {
	for i := uint64(0); i < uint64(micros)*1000; i++ {
		plantedSink = plantedSink*6364136223846793005 + i
	}
}`

// at is an edit that does something after each Fetch response of some versions.
func at(versions, what string) edit {
	return edit{broker, handleResp, decoded, "{}\nif v := pr.resp.GetVersion(); pr.resp.Key() == 1 && (" + versions + ") {\n" + what + "\n}"}
}

// costFaults take time and memory where it is hard to see.
func costFaults() []Fault {
	return []Fault{
		live("keeps-responses", "from Fetch v7 on every response is kept", fetched, found(guards.Memory, 9, "", guards.Counters), "var plantedKept [][]byte", at("v >= 7", "plantedKept = append(plantedKept, rawResp)")),
		live("leaks-goroutines", "from Fetch v7 on every response leaves a goroutine behind", fetched, found(guards.Memory, 9, "", guards.Counters), "", at("v >= 7", "go func() { <-make(chan int) }()")),
		live("copies-large-requests", "Produce v7 copies a request over 512 KiB four times", "tier1/produce/bytes=1MiB*", End{Exit: 3, Said: []Saying{{"", guards.AllVersions, "v7 is slower"}}, Also: []string{guards.Counters}}, "var plantedCopy []byte",
			edit{broker, "func (cxn *brokerCxn) writeRequest(", "bytesWritten, writeWait, timeToWrite, readEnqueue, writeErr = cxn.writeConn(", "if a.key == 0 && a.version == 7 && len(a.buf) > 512<<10 {\nfor range 4 {\nplantedCopy = append(plantedCopy[:0], a.buf...)\n}\n}\n{}"}),
		hidden(live("stalls-seldom", "Fetch v14 waits 30 ms after one response in 500", fetched, End{}, "var plantedWaited int", at("v == 14", "if plantedWaited++; plantedWaited%500 == 0 {\ntime.Sleep(30 * time.Millisecond)\n}")),
			"it is rarer than a quick run can tell from the machine's own stalls; the run's limits say so, and standard finds it"),
		hidden(live("sleeps", "Fetch v9 sleeps a millisecond after each response", fetched, End{}, "", at("v == 9", "time.Sleep(time.Millisecond)")),
			"what is compared is CPU: a sleep costs none. Wall time is recorded of each batch and decides nothing"),
		hidden(live("puts-work-off", "Fetch v9 burns 200 us after each response, 20 ms later", fetched, End{}, burn, at("v == 9", "time.AfterFunc(20*time.Millisecond, func() { plantedBurn(200) })")),
			"it falls between batches, or into those of other cells: it would take the process's CPU from one batch's end to the next one's begin, cell by cell"),
		live("lets-others-work", "Fetch v9 has a child process do its work, one for each response", fetched, End{Exit: 3, Said: []Saying{{"", guards.AllVersions, "v9 is slower"}}, Also: []string{guards.Counters, guards.Clocks}}, "import \"os/exec\"\n\nfunc plantedChild() { exec.Command(\"true\").Run() }", at("v == 9", "plantedChild()")),
		live("asks-for-metadata", "at Fetch v9 one response in 100 is followed by a refresh of metadata", fetched, found(guards.OtherAPIs, 9, "", guards.KnownTruth, guards.Counters, guards.Data), "var plantedAsked int",
			at("v == 9", "if plantedAsked++; plantedAsked%100 == 0 {\ncxn.cl.triggerUpdateMetadataNow(\"planted\")\n}")),
	}
}
