package guards

import (
	"strings"
	"testing"

	"protocolbench/internal/bank"
	"protocolbench/internal/driver"
	"protocolbench/internal/record"
	"protocolbench/internal/shape"
)

// pollFamily answers with errors: 2 topics of 3 partitions, 4 requests a batch.
func pollFamily() record.Family {
	s := plain(0, 0, 3, 2, 0, -1)
	s.Answer = shape.AnswerError
	return record.Family{API: fetchAPI, Shape: s, Mode: driver.ModeBare, Reference: 18, RequestsPerBatch: 4, FewestRequests: 4}
}

// What a client makes of responses without records can be wrong in two ways that its count of responses doesn't show.
func TestAnswersWithoutRecordsAreJudged(t *testing.T) {
	good := func() record.Batch {
		return record.Batch{Batched: driver.Batched{Requests: 4, Partitions: 24, Errors: 24, WireBytesIn: 4000}, ExpectedPartitions: 24, ExpectedErrors: 24}
	}
	f := pollFamily()
	for name, c := range map[string]struct {
		change func(*record.Batch)
		says   string // "" is right, "blind" is blind
	}{
		"all right":            {func(*record.Batch) {}, ""},
		"a partition missed":   {func(b *record.Batch) { b.Partitions-- }, "partitions"},
		"an error swallowed":   {func(b *record.Batch) { b.Errors-- }, "error codes"},
		"a response missed":    {func(b *record.Batch) { b.Requests-- }, "3"},
		"records from nowhere": {func(b *record.Batch) { b.Records = 1 }, "records"},
		"nothing expected":     {func(b *record.Batch) { b.ExpectedPartitions = 0 }, "blind"},
	} {
		b := good()
		c.change(&b)
		blind, fault := batchFault(f, b)
		switch {
		case c.says == "blind" && !blind, c.says != "blind" && blind, c.says == "" && fault != "", c.says != "" && c.says != "blind" && !strings.Contains(fault, c.says):
			t.Errorf("%s: blind %v, %q", name, blind, fault)
		}
		run := &record.Run{}
		must := truthOf(run, record.FamilyRun{Family: f})
		if must.blind != "" {
			t.Fatal(must.blind)
		}
		// The known truth goes by the shape alone, whatever the record says was expected.
		if why := must.fault(b); (why != "") != (c.says != "" && c.says != "blind") {
			t.Errorf("%s: known truth says %q", name, why)
		}
	}
}

// How long compressed records are only the newest version's response says; every other has to fit.
func TestLayoutOfCompressedResponses(t *testing.T) {
	s := plain(1000, 1, 1, 1, 0, -1)
	s.Compression = shape.CompressionLZ4
	b := bank.New(s, 3, 0)
	f := record.FamilyRun{Family: record.Family{API: fetchAPI, Shape: s, Reference: 18}}
	for version, cell := 4, 0; version <= 18; version, cell = version+1, cell+1 {
		body, err := b.Body(version)
		if err != nil {
			t.Fatal(err)
		}
		f.Cells = append(f.Cells, record.FamilyCell{Cell: cell, Version: version, Role: record.RoleVersion})
		if cell == 0 {
			f.BlockRuns = append(f.BlockRuns, record.BlockRun{})
		}
		f.BlockRuns[0].Batches = append(f.BlockRuns[0].Batches, record.Batch{Cell: cell, Batched: driver.Batched{Requests: 2, Records: 2000, WireBytesIn: 2 * int64(len(body))}})
	}
	lengths := lengthsOf(&record.Run{}, f)
	for version := 4; version <= 18; version++ {
		body, _ := b.Body(version)
		if got := lengths.of(version); got.err != nil || got.bytes != int64(len(body)) {
			t.Errorf("v%d: %d bytes (%v), it has %d", version, got.bytes, got.err, len(body))
		}
	}
	last := &f.BlockRuns[0].Batches[14]
	last.WireBytesIn = 20 // no response is so short
	if got := lengthsOf(&record.Run{}, f).of(4); got.err == nil {
		t.Errorf("lengths by a reference that can't be: %d", got.bytes)
	}
}

// A family may leave versions out if it says why; never the newest, and never in silence.
func TestPlanOfFewerVersions(t *testing.T) {
	plan := record.Plan{Tier: 0, API: fetchAPI, Pinned: []int{4, 5, 6, 18}}
	family := func(why string, versions ...int) *record.Run {
		f := record.Family{API: fetchAPI, Name: "f", LeftOut: why}
		for i, v := range versions {
			f.Cells = append(f.Cells, record.FamilyCell{Cell: i, Version: v, Role: record.RoleVersion})
		}
		return &record.Run{Families: []record.FamilyRun{{Family: f}}}
	}
	for _, c := range []struct {
		run  *record.Run
		good bool
	}{
		{family("", 4, 5, 6, 18), true}, {family("why", 4, 18), true}, {family("", 4, 18), false}, {family("why", 4, 5), false}, {family("why", 4, 7, 18), false},
	} {
		if faults := uncovered(c.run, 0, plan); (faults == nil) != c.good {
			t.Errorf("%+v: %q", c.run.Families[0].Family, faults)
		}
	}
}
