package guards

import (
	"strings"
	"testing"

	"protocolbench/internal/measure"
	"protocolbench/internal/record"
)

// resend moves n frames of a cell's closing count from one version to another.
func resend(b *record.BlockRun, cell int, to int16, n int64) {
	frames := b.Close.Worker.Cells[cell].Frames
	other := frames[0]
	frames[0].Count -= n
	other.Version, other.Count = to, n
	b.Close.Worker.Cells[cell].Frames = append(frames, other)
}

// arrive moves the broker's closing count of a version.
func arrive(b *record.BlockRun, version int, n int64) {
	c := b.Close.Broker.RequestsByVersion[version]
	b.Close.Broker.RequestsByVersion[version] = count(c.Value + n)
}

// decode has one batch of a cell of the tier 0 Fetch family report these decoded bytes.
func decode(cell int, bytes int64) func(*testing.T, *record.Run) {
	return func(t *testing.T, run *record.Run) {
		b := block(t, run, codecFetch, 1)
		for i := range b.Batches {
			if b.Batches[i].Cell == cell && b.Batches[i].Round == 3 {
				b.Batches[i].WireBytesIn = bytes
				return
			}
		}
		t.Fatalf("no batch of cell %d", cell)
	}
}

func TestPin(t *testing.T) {
	live := []string{"16", "17", "18"}
	all := func(family, outcome string, versions ...string) []string {
		var want []string
		for _, v := range versions {
			want = append(want, "pin|"+family+"|"+v+"|"+outcome)
		}
		return want
	}
	both := append(all(liveFetch, "blind", live...), all(liveProduce, "blind", "11", "12", "13")...)
	checkBreakages(t, []breakage{
		{"a client left unpinned: wire and broker object", func(t *testing.T, run *record.Run) {
			b := block(t, run, liveFetch, 1)
			resend(b, 0, 18, goodRounds*goodRequests)
			arrive(b, 16, -goodRounds*goodRequests)
			arrive(b, 18, goodRounds*goodRequests)
		}, all(liveFetch, "fail", "16"), "not pinned"},
		{"one request at another version", func(t *testing.T, run *record.Run) {
			b := block(t, run, liveProduce, 0)
			resend(b, 2, 12, 1)
			arrive(b, 13, -1)
			arrive(b, 12, 1)
		}, all(liveProduce, "fail", "13"), "1 of 24"},
		{"one request in flight at the end", func(t *testing.T, run *record.Run) {
			b := block(t, run, liveFetch, 0)
			b.Close.Worker.Cells[1].Frames[0].Count++
			arrive(b, 17, 1)
		}, all(liveFetch, "fail", "17"), "24 requests were asked for and 25 left"},
		{"a twin sends too few", func(t *testing.T, run *record.Run) {
			b := block(t, run, liveFetch, 0)
			b.Close.Worker.Cells[4].Frames[0].Count--
			arrive(b, 18, -1)
		}, all(liveFetch, "fail", "18"), "23 left"},
		{"an in-memory encoder at another version", func(t *testing.T, run *record.Run) {
			resend(block(t, run, codecProduce, 0), 0, 13, 4)
		}, all(codecProduce, "fail", "11"), "not pinned"},
		{"a decoder of another version", func(t *testing.T, run *record.Run) {
			block(t, run, codecFetch, 0).CellRows[1].AnswerVersion = 18
		}, all(codecFetch, "fail", "17"), "had v18"},
		{"a decoder that doesn't say", func(t *testing.T, run *record.Run) {
			block(t, run, codecFetch, 0).CellRows[1].AnswerVersion = -1
		}, all(codecFetch, "blind", "17"), "doesn't say"},
		{"a decoder that says v17 and decodes v12", decode(1, 4*1184), all(codecFetch, "fail", "17"), "1184 bytes as those of v12 do, and one of this version has 1179"},
		{"a decoder that says v17 and decodes v10", decode(1, 4*1189), all(codecFetch, "fail", "17"), "as those of v7, v8, v9, v10 do"},
		{"a twin that decodes v4", decode(3, 4*1175), all(codecFetch, "fail", "18"), "as those of v4 do"},
		{"a decoder of nobody's layout", decode(0, 4*1180), all(codecFetch, "fail", "16"), "has 1180 bytes, and one of this version has 1179"},
		{"a decoder of one other response", decode(0, 3*1179+1184), all(codecFetch, "fail", "16"), "4 responses decoded have 4721 bytes together"},
		{"a decoder that counts no bytes", decode(2, 0), all(codecFetch, "blind", "18"), "doesn't say how many bytes"},
		{"a decoder whose block ended early", func(t *testing.T, run *record.Run) {
			block(t, run, codecFetch, 0).CellRows = nil
		}, append(all(codecFetch, "blind", live...), "data|"+codecFetch+"|16|blind", "data|"+codecFetch+"|17|blind", "data|"+codecFetch+"|18|blind"), "ended before"},
		{"a version's counter that vanished", func(t *testing.T, run *record.Run) {
			delete(block(t, run, liveFetch, 0).Close.Broker.RequestsByVersion, 17)
		}, all(liveFetch, "fail", "17"), "contradict"},
		{"a live client that doesn't say", func(t *testing.T, run *record.Run) {
			for fork := range goodBlocks {
				block(t, run, liveFetch, fork).CellRows[1].AnswerVersion = -1
			}
		}, nil, ""},
		{"the broker counted less", func(t *testing.T, run *record.Run) {
			arrive(block(t, run, liveFetch, 1), 17, -2)
		}, all(liveFetch, "fail", "17"), "contradict"},
		{"the broker counted more", func(t *testing.T, run *record.Run) {
			arrive(block(t, run, liveFetch, 1), 17, 2)
		}, all(liveFetch, "fail", "17"), "contradict"},
		{"the broker counted a version that nobody pinned", func(t *testing.T, run *record.Run) {
			arrive(block(t, run, liveFetch, 1), 3, 1)
		}, all(liveFetch, "fail", "-1"), "0 requests left and the broker counted 1"},
		{"somebody else on an attached cluster", func(t *testing.T, run *record.Run) {
			run.Brokers[0].Provider = attachedBroker
			arrive(block(t, run, liveFetch, 1), 17, 2)
			arrive(block(t, run, liveFetch, 1), 3, 5)
		}, all(liveFetch, "blind", "-1", "17"), "somebody else"},
		{"a deficit on an attached cluster", func(t *testing.T, run *record.Run) {
			run.Brokers[0].Provider = attachedBroker
			arrive(block(t, run, liveFetch, 1), 17, -1)
		}, all(liveFetch, "fail", "17"), "contradict"},
		{"a long poll counted in the next block", func(t *testing.T, run *record.Run) {
			late := func(fork int, by int64) {
				b := block(t, run, liveFetch, fork)
				b.Close.Broker.RequestsByVersion[17] = count(b.Close.Broker.RequestsByVersion[17].Value + by)
			}
			late(0, -1)
			late(1, 1)
			first := block(t, run, liveFetch, 0).Close
			first.Unsettled, first.WaitedNs = true, 2_010_000_000
		}, []string{"pin|" + liveFetch + "|17|fail"}, "they had not come to agree when the block ended (after 2.0 s)"},
		{"one from before, on an attached cluster", func(t *testing.T, run *record.Run) {
			run.Brokers[0].Provider = attachedBroker
			b := block(t, run, liveFetch, 0)
			b.Open.Broker.RequestsByVersion[17] = count(b.Open.Broker.RequestsByVersion[17].Value - 1)
			b.Open.Unsettled, b.Open.WaitedNs = true, 2_010_000_000
		}, []string{"pin|" + liveFetch + "|17|blind"}, "somebody else uses the cluster; run on one that nobody else uses; they had not come to agree when the block began"},
		{"a wait in vain whose counts agree", func(t *testing.T, run *record.Run) {
			block(t, run, liveFetch, 0).Open.Unsettled = true
		}, nil, ""},
		{"a counter that could not be read", func(t *testing.T, run *record.Run) {
			block(t, run, liveFetch, 0).Close.Broker.RequestsByVersion[17] = unreadable()
		}, all(liveFetch, "blind", "17"), "401"},
		{"a list that could not be read", func(t *testing.T, run *record.Run) {
			b := block(t, run, liveFetch, 0)
			b.Open.Broker.RequestsListed = false
			delete(b.Open.Broker.RequestsByVersion, 17)
		}, all(liveFetch, "blind", "17"), "list of the broker's request counters"},
		{"a version's counter made on its first request", func(t *testing.T, run *record.Run) {
			b := block(t, run, liveFetch, 0)
			b.Close.Broker.RequestsByVersion[17] = count(goodRounds * goodRequests)
			delete(b.Open.Broker.RequestsByVersion, 17)
		}, nil, ""},
		{"the same, said to be absent", func(t *testing.T, run *record.Run) {
			b := block(t, run, liveFetch, 0)
			b.Close.Broker.RequestsByVersion[17] = count(goodRounds * goodRequests)
			b.Open.Broker.RequestsByVersion[17] = measure.Counter{State: measure.Absent}
		}, nil, ""},
		{"no control", func(_ *testing.T, run *record.Run) {
			run.Controls[2].Control = "another"
		}, both, "did not run"},
		{"a control that could not be run", func(_ *testing.T, run *record.Run) {
			run.Controls[2] = record.Control{Tier: 1, Control: record.ControlUnpinned, Why: "only one version"}
		}, both, "only one version"},
		{"a control that the wire missed", func(_ *testing.T, run *record.Run) {
			run.Controls[2].WireObjected = false
		}, both, "not seen on the wire"},
		{"a control that the broker missed", func(_ *testing.T, run *record.Run) {
			run.Controls[2].BrokerObjected = false
		}, both, "not seen by the broker"},
		{"a worker that counts no frames", func(_ *testing.T, run *record.Run) {
			run.Header.Client.Abilities = []string{"codec", "live", "hash"}
		}, append(append(all(codecProduce, "blind", "11", "12", "13"), both...),
			"pin|"+sanityFetch+"|-1|blind", "pin|"+sanityProduce+"|-1|blind"), "counts no frames"},
		{"an old broker counted more", func(t *testing.T, run *record.Run) {
			block(t, run, sanityFetch, 0).Close.Broker.Requests.Value++
		}, all(sanityFetch, "fail", "-1"), "contradict"},
		{"a client left alone that changes its version", func(t *testing.T, run *record.Run) {
			resend(block(t, run, sanityFetch, 0), 0, 6, 1)
		}, all(sanityFetch, "fail", "-1"), "another version"},
	})
}

// Nothing asked for and nothing sent agree with each other, and prove nothing.
func TestPinOfNothingIsBlind(t *testing.T) {
	run := goodRun()
	for fork := range goodBlocks {
		b := block(t, run, liveFetch, fork)
		b.Batches, b.Close.Worker.Cells = nil, b.Open.Worker.Cells
		b.Close.Broker.RequestsByVersion = b.Open.Broker.RequestsByVersion
	}
	for _, f := range Check(run) {
		if f.Guard == Pin && f.Family == liveFetch && f.Outcome != Blind {
			t.Errorf("%s: %s", label(f), f.Why)
		}
	}
}

func TestPinSumsUpWhatItRestsOn(t *testing.T) {
	for _, f := range Check(goodRun()) {
		if f.Guard != Pin || f.Family != liveFetch {
			continue
		}
		clients := map[int]int64{16: 1, 17: 1, 18: 4}[f.Version] // the reference has three, and the canary
		want := clients * goodBlocks * goodRounds * goodRequests
		for _, witness := range []string{"asked", "wire", "sent", "broker"} {
			if f.Evidence[witness] != want {
				t.Errorf("v%d: %s is %v, want %d", f.Version, witness, f.Evidence[witness], want)
			}
		}
		if f.Evidence["blocks"] != goodBlocks || f.Evidence["otherVersions"] != int64(0) || clients == 0 {
			t.Errorf("v%d: %v", f.Version, f.Evidence)
		}
	}
}

func TestPinWithoutJolokiaIsBlind(t *testing.T) {
	run := goodRun()
	run.Brokers[0].JolokiaURL = ""
	for _, f := range Check(run) {
		if f.Guard == Pin && f.Tier == 1 && f.Outcome != Blind {
			t.Errorf("%s without the broker's counters", label(f))
		}
	}
}

// v3 has no record batches of format v2, so its length is unknown here: that proves nothing.
func TestPinOfAnUnknownLayoutIsBlind(t *testing.T) {
	run := goodRun()
	for i := range run.Families {
		f := &run.Families[i]
		if f.Name != codecFetch {
			continue
		}
		f.Cells[0].Version = 3
		for _, b := range f.BlockRuns {
			b.CellRows[0].AnswerVersion = 3
		}
	}
	for _, f := range Check(run) {
		if f.Guard == Pin && f.Family == codecFetch && (f.Version == 3) != (f.Outcome == Blind) {
			t.Errorf("%s: %s", label(f), f.Why)
		}
	}
}

func TestPinSaysWhatItCheckedOfDecoding(t *testing.T) {
	for _, f := range Check(goodRun()) {
		if f.Guard != Pin || f.Family != codecFetch {
			continue
		}
		clients := map[int]int64{16: 1, 17: 1, 18: 4}[f.Version]
		if want := clients * goodBlocks * goodRounds * goodRequests; f.Evidence["responsesDecoded"] != want || f.Evidence["bytesDecoded"] != want*decodedBytes || want == 0 {
			t.Errorf("v%d rests on %v", f.Version, f.Evidence)
		}
		if !strings.Contains(f.Why, "have the length of this version's layout, and the client's answer names it") {
			t.Errorf("v%d: %s", f.Version, f.Why)
		}
	}
}
