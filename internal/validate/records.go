package validate

import (
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"protocolbench/guards"
	"protocolbench/internal/record"
	"protocolbench/internal/verdict"
)

// recorded is a run that was measured, and its verdict.
type recorded struct {
	label   string
	run     *record.Run
	verdict verdict.Verdict
}

// Records judges recorded runs and prints what they show of the tool: how far equal clients differ, which planted slowdowns were found, where steps are, and what differs
// from run to run.
func Records(w io.Writer, dirs []string) error {
	var runs []recorded
	for _, dir := range dirs {
		run, err := record.Read(filepath.Join(dir, "run.jsonl"))
		if err != nil {
			return fmt.Errorf("reading a run: %w", err)
		}
		runs = append(runs, recorded{filepath.Base(filepath.Clean(dir)), run, verdict.Judge(run, guards.Check(run), verdict.Options{})})
	}
	s := &sheet{w: w}
	for _, r := range runs {
		h := r.run.Header
		s.say("%s: seed %d, %s, client %s %s: %s", r.label, h.Seed, h.Profile, h.Client.Client, h.Client.Version, r.verdict.Verdict)
		if len(h.Plants) > 0 {
			s.say("  planted: %s", strings.Join(h.Plants, ", "))
		}
		if r.verdict.Verdict != verdict.Pass {
			s.say("  %s", r.verdict.Reason)
		}
	}
	printTwins(s, runs)
	printPlants(s, runs)
	printSteps(s, runs)
	printWords(s, runs)
	printFloors(s, runs)
	printEstimators(s, runs)
	printRecordedNoise(s, runs)
	return nil
}

// eachFamily calls with every family that was judged, in order.
func eachFamily(runs []recorded, call func(r recorded, f record.FamilyRun, judged verdict.Family)) {
	for _, r := range runs {
		for _, f := range r.run.Families {
			i := slices.IndexFunc(r.verdict.Families, func(j verdict.Family) bool { return j.Name == f.Name && j.Tier == f.Tier })
			if i >= 0 {
				call(r, f, r.verdict.Families[i])
			}
		}
	}
}

// alikes are differences of equal clients.
type alikes struct {
	sizes  []float64
	beyond int // whose 95 % interval leaves out 0
}

func (a *alikes) add(list []verdict.Difference) {
	for _, d := range list {
		a.sizes = append(a.sizes, max(d.Difference, -d.Difference))
		if !d.Unbounded && (d.Low > 0 || d.High < 0) {
			a.beyond++
		}
	}
}

func (a *alikes) print(s *sheet, name string) {
	if len(a.sizes) > 0 {
		s.say("  %-48s %4d %8.2f %% %8.2f %% %8.2f %%   %s", name, len(a.sizes), 100*quantile(a.sizes, 0.5), 100*quantile(a.sizes, 0.95), 100*slices.Max(a.sizes),
			ofText(a.beyond, len(a.sizes)))
	}
}

func printTwins(s *sheet, runs []recorded) {
	against, pairs := map[string]*alikes{}, map[string]*alikes{}
	var names, together []string
	eachFamily(runs, func(_ recorded, f record.FamilyRun, _ verdict.Family) {
		one, two := verdict.Twins(f)
		for _, name := range []string{f.Name, tierName(f.Tier)} {
			if against[name] == nil {
				against[name], pairs[name] = &alikes{}, &alikes{}
				if name == f.Name {
					names = append(names, name)
				} else {
					together = append(together, name)
				}
			}
			against[name].add(one)
			pairs[name].add(two)
		}
	})
	s.say("\nEqual clients (three of the reference version in each family): |difference|, and 95 %% intervals that leave out 0")
	for _, part := range []struct {
		title string
		of    map[string]*alikes
	}{{"each pair", pairs}, {"each against the mean of the two others", against}} {
		s.say("  %-48s %4s %10s %10s %10s   %s", part.title, "n", "p50", "p95", "largest", "without 0")
		for _, name := range slices.Concat(names, together) {
			part.of[name].print(s, name)
		}
	}
}

func tierName(tier int) string { return fmt.Sprintf("tier %d together", tier) }

// plantGroup is what became of the plants of one size.
type plantGroup struct{ n, found, beside, slower int }

func printPlants(s *sheet, runs []recorded) {
	groups := map[string]*plantGroup{}
	var names []string
	heading := false
	eachFamily(runs, func(r recorded, f record.FamilyRun, judged verdict.Family) {
		for _, p := range verdict.Plants(f) {
			if !heading {
				s.say("\nPlanted slowdowns (found: lower bound above 0, and the interval, widened by %.0f %% of the plant, has the plant in it)", 100*verdict.CalibrationError)
				s.say("  %-36s %4s %9s   %-32s %-32s %s", "family", "", "planted", "against the newest", "against unplanted neighbours", "word")
				heading = true
			}
			i := slices.IndexFunc(judged.Cells, func(c verdict.Cell) bool { return c.Version == p.Version })
			word := judged.Cells[i].Verdict
			switch {
			case judged.Cells[i].Differs:
				word += ", differs"
			case word == verdict.Unresolved || word == verdict.Unresolvable:
				word += " (" + kindOf(judged.Cells[i].Why) + ")"
			}
			s.say("  %-36s %4s %7.2f %%   %-32s %-32s %s", f.Name, fmt.Sprintf("v%d", p.Version), 100*p.Share, foundText(p.Newest, p.Share), foundText(p.Neighbours, p.Share), word)
			name := fmt.Sprintf("tier %d, %s asked for, margin %.0f %%", f.Tier, askedFor(r.run.Header.Plants, f.Name, p), 100*judged.Margin)
			if groups[name] == nil {
				groups[name] = &plantGroup{}
				names = append(names, name)
			}
			groups[name].add(p, judged.Cells[i].Verdict)
		}
	})
	slices.Sort(names)
	for _, name := range names {
		g := groups[name]
		s.say("  %s: found %d of %d against the newest, %d against neighbours; called slower %d of %d", name, g.found, g.n, g.beside, g.slower, g.n)
	}
}

// askedFor is the share that --plant named. What a run calibrates is a time, and the reference may turn out cheaper or dearer than it was then; so plants are put together by
// what was asked for, and judged by what they were.
func askedFor(plants []string, family string, p verdict.Plant) string {
	for _, plant := range plants {
		families, rest, _ := strings.Cut(plant, "@")
		version, part, _ := strings.Cut(rest, "=")
		glob, _ := path.Match(strings.ReplaceAll(families, "/", "\x00"), strings.ReplaceAll(family, "/", "\x00")) // a star takes slashes, too
		if version == strconv.Itoa(p.Version) && (glob || strings.HasPrefix(family, families)) {
			return part
		}
	}
	return fmt.Sprintf("%.0f%%", 100*p.Share)
}

func (g *plantGroup) add(p verdict.Plant, word string) {
	g.n++
	if isFound(p.Newest, p.Share) {
		g.found++
	}
	if isFound(p.Neighbours, p.Share) {
		g.beside++
	}
	if word == verdict.Slower {
		g.slower++
	}
}

func isFound(d verdict.Difference, planted float64) bool {
	slack := verdict.CalibrationError * planted
	return !d.Unbounded && d.Low > 0 && d.Low-slack <= planted && planted <= d.High+slack
}

func foundText(d verdict.Difference, planted float64) string {
	text := fmt.Sprintf("%+.2f %% [%.2f, %.2f]", 100*d.Difference, 100*d.Low, 100*d.High)
	switch {
	case isFound(d, planted):
		return text + " found"
	case d.Low <= 0:
		return text + " not sure"
	}
	return text + " other size"
}

// printSteps has a family's steps over all draws, and by each draw alone.
func printSteps(s *sheet, runs []recorded) {
	s.say("\nSteps, over all draws and by each draw alone")
	families, none := 0, 0
	eachFamily(runs, func(r recorded, f record.FamilyRun, judged verdict.Family) {
		var draws []int
		for _, b := range f.BlockRuns {
			if !slices.Contains(draws, b.Draw) && b.Look < record.SecondLook {
				draws = append(draws, b.Draw)
			}
		}
		slices.Sort(draws)
		var alone []string
		some := len(judged.Steps) > 0
		for _, draw := range draws {
			steps := stepsOfDraw(r.run, f, draw)
			some = some || len(steps) > 0
			alone = append(alone, stepsText(steps))
		}
		families++
		if some {
			s.say("  %s %s: %s", r.label, f.Name, stepsText(judged.Steps))
			s.say("      by draw: %s", strings.Join(alone, " / "))
			return
		}
		none++
	})
	s.say("  %d of %d families have none, neither over all draws nor by one alone", none, families)
}

func stepsOfDraw(run *record.Run, f record.FamilyRun, draw int) []verdict.Step {
	alone := record.Run{Header: run.Header, Brokers: run.Brokers, Trailer: run.Trailer}
	alone.Header.Budget.Looks = 1
	blocks := f.BlockRuns
	f.BlockRuns, f.Look = nil, nil
	for _, b := range blocks {
		if b.Draw == draw && b.Look < record.SecondLook {
			f.BlockRuns = append(f.BlockRuns, b)
		}
	}
	alone.Families = []record.FamilyRun{f}
	return verdict.Judge(&alone, nil, verdict.Options{}).Families[0].Steps
}

func stepsText(steps []verdict.Step) string {
	if len(steps) == 0 {
		return "none"
	}
	var list []string
	for _, step := range steps {
		list = append(list, fmt.Sprintf("v%d %+.1f %% [%.1f, %.1f]", step.At, 100*step.Difference, 100*step.Low, 100*step.High))
	}
	return strings.Join(list, ", ")
}

// printWords compares the words of runs that nothing was planted in.
func printWords(s *sheet, runs []recorded) {
	type place struct {
		family  string
		version int
	}
	words := map[place][]string{}
	labels := map[place][]string{}
	var places []place
	eachFamily(runs, func(r recorded, _ record.FamilyRun, judged verdict.Family) {
		if !judged.Deciding || len(r.run.Header.Plants) > 0 {
			return
		}
		for _, c := range judged.Cells {
			at := place{judged.Name, c.Version}
			if words[at] == nil {
				places = append(places, at)
			}
			words[at] = append(words[at], c.Verdict)
			labels[at] = append(labels[at], r.label)
		}
	})
	several, differ := 0, 0
	var list []string
	for _, at := range places {
		if len(words[at]) < 2 {
			continue
		}
		several++
		if slices.ContainsFunc(words[at], func(word string) bool { return word != words[at][0] }) {
			differ++
			var each []string
			for i, word := range words[at] {
				each = append(each, labels[at][i]+" "+word)
			}
			list = append(list, fmt.Sprintf("  %s v%d: %s", at.family, at.version, strings.Join(each, ", ")))
		}
	}
	s.say("\nWords of deciding families' versions that two or more runs without plants have: %d; of these differ: %d", several, differ)
	for _, line := range list {
		s.say("%s", line)
	}
}

func printFloors(s *sheet, runs []recorded) {
	floors, margins := map[string][]float64{}, map[string][]string{}
	var names []string
	eachFamily(runs, func(_ recorded, _ record.FamilyRun, judged verdict.Family) {
		if floors[judged.Name] == nil {
			names = append(names, judged.Name)
		}
		floors[judged.Name] = append(floors[judged.Name], judged.Floor)
		if margin := fmt.Sprintf("%.0f %%", 100*judged.Margin); !slices.Contains(margins[judged.Name], margin) {
			margins[judged.Name] = append(margins[judged.Name], margin)
		}
	})
	s.say("\nFloors")
	s.say("  %-48s %4s %8s %8s %8s", "family", "runs", "least", "middle", "largest")
	for _, name := range names {
		list := floors[name]
		s.say("  %-48s %4d %6.1f %% %6.1f %% %6.1f %%  margin %s", name, len(list), 100*slices.Min(list), 100*middleOf(list), 100*slices.Max(list),
			strings.Join(margins[name], " or "))
	}
}

func printRecordedNoise(s *sheet, runs []recorded) {
	s.say("\nNoise, as `validate simulated` prints it of what it makes up")
	s.say("  %-45s %8s %8s %8s %8s %8s %8s", "family", "batch", "dear", "lag 1", "lag 5", "forks", "largest")
	noises := map[string][]noise{}
	var names []string
	eachFamily(runs, func(_ recorded, f record.FamilyRun, _ verdict.Family) {
		if noises[f.Name] == nil {
			names = append(names, f.Name)
		}
		noises[f.Name] = append(noises[f.Name], noiseOf(f))
	})
	for _, name := range names {
		printNoise(s, name, noises[name])
	}
}

// printEstimators shows what comparing neighbours is worth beside comparing within rounds: variances fall with the number of rounds, so their ratio says how many times as many
// rounds would have done the same.
func printEstimators(s *sheet, runs []recorded) {
	s.say("\nFrom fork to fork, sd of a version's difference to the reference: by levels of neighbours, and by trimmed means of differences within rounds")
	s.say("  %-48s %10s %10s %10s", "family", "levels", "rounds", "variances")
	eachFamily(runs, func(r recorded, f record.FamilyRun, _ verdict.Family) {
		if levels, rounds, ok := verdict.ForkSpreads(f); ok && levels > 0 {
			s.say("  %-48s %8.2f %% %8.2f %% %10.1f", f.Name, 100*levels, 100*rounds, rounds*rounds/(levels*levels))
		}
	})
}
