package guards

import (
	"fmt"
	"math"

	"protocolbench/internal/record"
	"protocolbench/internal/stats"
)

// Versions take turns in one process, and each batch begins with a forced collection. So what the collection before the next batch finds more than the one before
// this batch is what this one left behind; stats.RetainedBy charges it to the version that doesn't let it go again. A block's last batch has no reading after it
// (the closing snapshot collects nothing) and is charged with nothing; which version that is, is drawn. Neither are batches before every client has had one: each keeps
// a buffer of its first response's size (1.01 MiB with Fetch of 1 MiB), once.
//
// A version fails where what it keeps is above the margin and its lower bound above 0, over all blocks or in one of them: a leak may need luck to show, and one
// block that shows it is enough. The level makes that one false alarm in 10,000 versions; the blocks share it. What settles later is in every block, so that many
// blocks would make it significant, but is over by its second half, where a leak still is above the margin.
const (
	keptBytes     = 16  // per request: a pointer and a little; versions of a clean client read 0 to 0.4
	workerBytes   = 256 // per batch, for what a worker may write down of it
	keptLevel     = 1 - 1e-4
	fewestCharged = 4   // batches of a version
	seenShare     = 0.5 // of the bytes of a request: where a client that kept half of them wouldn't be seen, the guard is blind
)

// kept is what one version kept in some blocks, all figures per request.
type kept struct {
	stats.Retained
	requests     float64 // in a batch
	requestBytes float64
	level        float64
	late         float64 // bytes per request, in the second halves of blocks
}

func (k kept) perRequest() float64 { return k.Value / k.requests }

// bytes per request at which the lower bound is 0.
func (k kept) noise() float64 { return k.Reach(k.level) / k.requests }

func (k kept) allowed() float64 { return max(keptBytes, workerBytes/k.requests) }

// smallest is the leak that would be found.
func (k kept) smallest() float64 { return max(k.allowed(), k.noise()) }

func (k kept) found() bool {
	return k.Batches >= fewestCharged && k.perRequest() > k.smallest() && k.late > k.allowed()
}

// checkRetained asks each version of a family of tiers 0 and 1 what it kept. Records before schema 4 have no readings, and are not asked.
func checkRetained(run *record.Run, f record.FamilyRun) []Finding {
	if run.Header.Schema < 4 {
		return nil
	}
	all := keptIn(f.Family, f.BlockRuns, keptLevel)
	var each []map[int]kept
	for _, b := range f.BlockRuns {
		each = append(each, keptIn(f.Family, []record.BlockRun{b}, 1-(1-keptLevel)/float64(len(f.BlockRuns))))
	}
	var findings []Finding
	named := map[int]bool{}
	for _, v := range versionsOf(f.Family) {
		finding := retained(f.Family, v, all[v], each)
		if hasWire(f.Family) {
			judgeGrowth(&finding, connectionsOf(f, v), "it reconnects, where one connection carries any number of requests; look for what closes it")
		}
		if finding.Outcome == Fail {
			named[v] = true
		}
		findings = append(findings, finding)
	}
	return append(findings, retainedTogether(f, named))
}

// retainedTogether is about what is nobody's: the process's goroutines and files, and what is kept too seldom to be seen at each version.
func retainedTogether(f record.FamilyRun, named map[int]bool) Finding {
	finding := Finding{Guard: Memory, Tier: f.Tier, Family: f.Name, Version: AllVersions, Outcome: Pass, Evidence: map[string]any{"growth": shownOf(processOf(f))},
		Why: "goroutines and open files of the process don't grow with its requests, nor does the heap over all versions"}
	if together := keptTogether(f.Family, f.BlockRuns, named); together.found() {
		finding.Outcome, finding.Evidence = Fail, together.shown()
		finding.Why = fmt.Sprintf("the client keeps %s over all versions, too little or too seldom to be seen at each of them: it keeps what it should let go; take a heap profile of a long run", together.words())
	}
	judgeGrowth(&finding, processOf(f), processAdvice)
	return finding
}

// retained is the answer about one version.
func retained(f record.Family, version int, all kept, each []map[int]kept) Finding {
	finding := Finding{Guard: Memory, Tier: f.Tier, Family: f.Name, Version: version, Evidence: map[string]any{"batches": all.Batches}}
	if all.Batches < fewestCharged {
		finding.Outcome = Blind
		finding.Why = fmt.Sprintf("there are readings of the live heap around %d batches of v%d where %d are needed, so what it keeps would not be seen; the worker has to give heapLiveBytes with each batch",
			all.Batches, version, fewestCharged)
		return finding
	}
	worst, where := all, ""
	for _, blocks := range each {
		if one := blocks[version]; one.found() && !worst.found() {
			worst, where = one, ", in one block of several"
		}
	}
	finding.Evidence = worst.shown()
	switch {
	case worst.found():
		finding.Outcome = Fail
		finding.Why = fmt.Sprintf("v%d keeps %s%s: it keeps what it should let go; take a heap profile of this version alone", version, worst.words(), where)
	case all.smallest() > max(seenShare*all.requestBytes, all.allowed()):
		finding.Outcome = Blind
		finding.Why = fmt.Sprintf("the live heap moves so much between batches of v%d that what it keeps would be seen from %.0f bytes per request on, of the %.0f that one carries; give the family more rounds", version, all.smallest(), all.requestBytes)
	default:
		finding.Outcome = Pass
		finding.Why = "what is alive after a batch and the next is what was alive before; the smallest leak that would be found is in the evidence"
	}
	return finding
}

// words has the amount, its 95 % interval and its share.
func (k kept) words() string {
	half := k.Reach(0.975) / k.requests
	share := "of requests that carry nothing"
	if k.requestBytes > 0 {
		share = fmt.Sprintf("%.2g %% of the %.0f that one carries", 100*k.perRequest()/k.requestBytes, k.requestBytes)
		if k.perRequest() >= 0.995*k.requestBytes {
			share = fmt.Sprintf("%.0f %% of the %.0f that one carries", 100*k.perRequest()/k.requestBytes, k.requestBytes)
		}
	}
	return fmt.Sprintf("%.0f bytes per request [%.0f, %.0f], %s", k.perRequest(), k.perRequest()-half, k.perRequest()+half, share)
}

func (k kept) shown() map[string]any {
	half := k.Reach(0.975) / k.requests
	return map[string]any{"batches": k.Batches, "bytesPerRequest": tenth(k.perRequest()), "lowBytesPerRequest": tenth(k.perRequest() - half), "highBytesPerRequest": tenth(k.perRequest() + half),
		"smallestFoundBytesPerRequest": tenth(k.smallest()), "requestBytes": tenth(k.requestBytes)}
}

func tenth(v float64) float64 { return math.Round(10*v) / 10 }
