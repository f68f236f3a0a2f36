package guards

import (
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"protocolbench/internal/record"
)

// Families of the recorded run (testdata/README.md says how it was made): Fetch v11 and v12, Produce v12 and v13, on Kafka 4.4.0 and, left alone, on 1.1.0.
const (
	recordedCodecFetch    = "tier0/fetch/records=100/bare"
	recordedCodecProduce  = "tier0/produce/records=100/bare"
	recordedFetch         = "tier1/fetch/size=64KiB/bare"
	recordedProduce       = "tier1/produce/records=100,acks=all/bare"
	recordedSanityFetch   = "tier2/fetch/size=64KiB/alone"
	recordedSanityProduce = "tier2/produce/records=100,acks=all/alone"
)

// allTiers is the record of a clean run of three tiers; the others are those of testdata/records, by their folder.
const allTiers = ""

// change is one fact of a real record that is made another, and everything that guards have to say differently then. The first one that is wanted is of the guard
// that the change is for. Where a fact is seen by further guards, they are wanted, too, and `also` says why that is right.
type change struct {
	record  string
	name    string
	changes func(t *testing.T, run *record.Run)
	want    []string // "guard|family or tier|version|outcome" of findings whose outcome or reason is another one now
	why     string   // in the explanation of the first of them
	also    string   // why further guards object
}

// changes is filled by the files of the table: one list for each guard.
var changes = slices.Concat(completenessChanges, pinChanges, conversionsChanges, logChanges, dataChanges, identityChanges, planChanges, clocksChanges, countersChanges,
	knownTruthChanges, otherAPIsChanges, negotiationChanges, memoryChanges, hostChanges)

// The guards that answer for a real run, changed in one fact: the one that the fact belongs to objects, and all others say what they said.
func TestRecordedChanges(t *testing.T) {
	unchanged := map[string]map[string]Finding{} // by record
	for _, c := range changes {
		t.Run(c.want[0]+": "+c.name, func(t *testing.T) {
			run := recordedRun(t, c.record)
			if unchanged[c.record] == nil {
				unchanged[c.record] = labelled(Check(run))
			}
			before := unchanged[c.record]
			c.changes(t, run)
			findings := Check(run)
			var got []string
			for _, f := range findings {
				if old, there := before[about(f)]; !there || old.Outcome != f.Outcome || old.Why != f.Why {
					got = append(got, label(f))
				}
			}
			after := labelled(findings)
			for subject, old := range before {
				if _, there := after[subject]; !there {
					got = append(got, "gone: "+label(old))
				}
			}
			want := slices.Sorted(slices.Values(c.want))
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("what guards say otherwise:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				for _, f := range findings {
					if slices.Contains(got, label(f)) && !slices.Contains(want, label(f)) {
						t.Logf("%s: %s", label(f), f.Why)
					}
				}
			}
			for _, f := range findings {
				if label(f) == c.want[0] && !strings.Contains(f.Why, c.why) {
					t.Errorf("%s\nis explained by %q, want %q in it", label(f), f.Why, c.why)
				}
			}
		})
	}
}

// What is recorded is a good run: every guard answers, and none objects.
func TestRecordedRunIsGood(t *testing.T) {
	for _, f := range Check(recordedRun(t, allTiers)) {
		if f.Outcome == Fail || f.Outcome == Blind {
			t.Errorf("%s: %s", label(f), f.Why)
		}
	}
}

// No guard is left out: each that says anything about the recorded run has at least two changes that are for it, with a failure and a blindness among them
// (the exceptions have no way to be blind, or to fail, on a record of that kind).
func TestRecordedChangesAreComplete(t *testing.T) {
	outcomes := map[string]map[string]int{}
	for _, c := range changes {
		guard, _, _ := strings.Cut(c.want[0], "|")
		outcome := c.want[0][strings.LastIndex(c.want[0], "|")+1:]
		if outcomes[guard] == nil {
			outcomes[guard] = map[string]int{}
		}
		outcomes[guard][outcome]++
		guards := map[string]bool{}
		for _, w := range c.want {
			name, _, _ := strings.Cut(w, "|")
			guards[name] = true
		}
		if (len(guards) > 1) != (c.also != "") {
			t.Errorf("%s: %d guards object, and the reason for that is %q", c.name, len(guards), c.also)
		}
	}
	for _, f := range Check(recordedRun(t, allTiers)) {
		seen := outcomes[f.Guard]
		if seen[string(Fail)] == 0 && f.Guard != Host || seen[string(Blind)] == 0 && f.Guard != KnownTruth {
			t.Errorf("%s has changes for the outcomes %v only", f.Guard, seen)
		}
		total := 0
		for _, n := range seen {
			total += n
		}
		if total < 2 {
			t.Errorf("%s has %d changes", f.Guard, total)
		}
	}
}

// The recorded run is read by strangers: it names no path of the machine it comes from.
func TestRecordedRunNamesNoMachine(t *testing.T) {
	run := recordedRun(t, allTiers)
	if found := regexp.MustCompile(`/(tmp|root|home|work|var|Users)/`).FindString(fmt.Sprintf("%+v", *run)); found != "" {
		t.Errorf("it has a path with %s", found)
	}
}

// recordedRun reads a record anew, since each change is made in it.
func recordedRun(t testing.TB, folder string) *record.Run {
	t.Helper()
	if folder != allTiers {
		run, err := record.Read(filepath.Join("..", "testdata", "records", folder))
		if err != nil {
			t.Fatal(err)
		}
		return run
	}
	file, err := os.Open(filepath.Join("testdata", "recorded.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	run, err := record.ReadFrom(lines)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// about is what a finding is about, whatever it says of it.
func about(f Finding) string {
	subject := strings.TrimSuffix(label(f), string(f.Outcome)) + f.Build
	if f.Guard == PlanGuard {
		subject += fmt.Sprint(f.Evidence["api"]) // a tier has one plan for each API
	}
	return subject
}

func labelled(findings []Finding) map[string]Finding {
	all := map[string]Finding{}
	for _, f := range findings {
		all[about(f)] = f
	}
	return all
}

// of writes labels of a guard's findings about several families or tiers, each "subject|version".
func of(guard string, outcome Outcome, subjects ...string) []string {
	var labels []string
	for _, s := range subjects {
		labels = append(labels, fmt.Sprintf("%s|%s|%s", guard, s, outcome))
	}
	return labels
}

// whole is a family in a label of a finding about all its versions.
func whole(family string) string { return family + "|-1" }

// at is a family in a label of a finding about one version.
func at(family string, version int) string { return fmt.Sprintf("%s|%d", family, version) }

// inFamily gives a family of a run for a change.
func inFamily(name string, do func(f *record.FamilyRun)) func(*testing.T, *record.Run) {
	return func(t *testing.T, run *record.Run) {
		t.Helper()
		for i := range run.Families {
			if run.Families[i].Name == name {
				do(&run.Families[i])
				return
			}
		}
		t.Fatalf("no family %s", name)
	}
}

// inBlock gives the second block of a family for a change: one block is enough for a guard to object.
func inBlock(family string, do func(b *record.BlockRun)) func(*testing.T, *record.Run) {
	return inFamily(family, func(f *record.FamilyRun) { do(&f.BlockRuns[min(1, len(f.BlockRuns)-1)]) })
}

// everywhere changes all blocks of a family.
func everywhere(family string, do func(b *record.BlockRun)) func(*testing.T, *record.Run) {
	return inFamily(family, func(f *record.FamilyRun) {
		for i := range f.BlockRuns {
			do(&f.BlockRuns[i])
		}
	})
}

// inBatch changes one batch of a cell, in one block.
func inBatch(family string, cell int, do func(b *record.Batch)) func(*testing.T, *record.Run) {
	return inBlock(family, func(b *record.BlockRun) {
		for i := range b.Batches {
			if b.Batches[i].Cell == cell {
				do(&b.Batches[i])
				return
			}
		}
	})
}

// inCell changes what one cell said in one block.
func inCell(family string, cell int, do func(c *record.Cell)) func(*testing.T, *record.Run) {
	return inBlock(family, func(b *record.BlockRun) {
		for i := range b.CellRows {
			if b.CellRows[i].Cell == cell {
				do(&b.CellRows[i])
				return
			}
		}
	})
}

// inControl changes a control of a tier.
func inControl(tier int, name string, do func(c *record.Control)) func(*testing.T, *record.Run) {
	return func(t *testing.T, run *record.Run) { t.Helper(); do(control(t, run, tier, name)) }
}

// inBroker changes what the run says of a tier's broker.
func inBroker(tier int, do func(b *record.Broker)) func(*testing.T, *record.Run) {
	return func(t *testing.T, run *record.Run) {
		t.Helper()
		i := slices.IndexFunc(run.Brokers, func(b record.Broker) bool { return b.Tier == tier })
		if i < 0 {
			t.Fatalf("no broker of tier %d", tier)
		}
		do(&run.Brokers[i])
	}
}

// inPlan changes a plan.
func inPlan(tier int, api string, do func(p *record.Plan)) func(*testing.T, *record.Run) {
	return func(t *testing.T, run *record.Run) {
		t.Helper()
		i := slices.IndexFunc(run.Plans, func(p record.Plan) bool { return p.Tier == tier && p.API == api })
		if i < 0 {
			t.Fatalf("no plan of %s in tier %d", api, tier)
		}
		do(&run.Plans[i])
	}
}
