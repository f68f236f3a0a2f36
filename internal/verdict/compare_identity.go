package verdict

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"protocolbench/guards"
	"protocolbench/internal/record"
)

const unknown = "unknown"

// side names a record and its own troubles.
func (c compared) side() Side {
	h := c.run.Header
	s := Side{Client: clientOf(h.Client, h.ClientBuild), Candidate: h.Baseline != nil, Seed: h.Seed, Profile: h.Profile,
		Complete: c.run.Trailer != nil && c.run.Trailer.Complete, Troubles: []string{}}
	switch {
	case wasInterrupted(c.run):
		s.Troubles = append(s.Troubles, "interrupted before its planned end")
	case c.run.Trailer == nil:
		s.Troubles = append(s.Troubles, "killed before its planned end")
	case !s.Complete:
		s.Troubles = append(s.Troubles, "ended early: "+oneLine(c.run.Trailer.Reason))
	}
	for _, f := range c.run.Faults {
		if f.What != record.FaultUser {
			s.Troubles = append(s.Troubles, fmt.Sprintf("%s fault%s: %s", f.What, in(f.Family), oneLine(f.Text)))
		}
	}
	for _, outcome := range []guards.Outcome{guards.Fail, guards.Blind} {
		for _, f := range c.findings {
			if f.Outcome == outcome && f.Build != record.BuildBaseline && !isConsequence(c.run, f) {
				s.Troubles = append(s.Troubles, guardText(f))
			}
		}
	}
	if c.run.Trailer != nil {
		for _, changed := range c.run.Trailer.Changed {
			s.Troubles = append(s.Troubles, "the checkout changed during the run: "+changed)
		}
	}
	return s
}

func guardText(f guards.Finding) string {
	word := map[guards.Outcome]string{guards.Fail: "failed", guards.Blind: "is blind"}[f.Outcome]
	return fmt.Sprintf("the %s guard %s%s: %s", f.Guard, word, in(where(f)), oneLine(f.Why))
}

// buildRelation goes by content where both have that, and else by what the modules' sums say.
func buildRelation(a, b record.Header) string {
	if a.ClientBuild != nil && b.ClientBuild != nil && a.ClientBuild.ContentHash != "" && a.ClientBuild.ContentHash == b.ClientBuild.ContentHash {
		return BuildSame
	}
	sumsA, sumsB := clientSums(a), clientSums(b)
	switch {
	case len(sumsA) == 0 || len(sumsB) == 0:
		return BuildUnknown
	case a.Client.Client == b.Client.Client && maps.Equal(sumsA, sumsB):
		return BuildModules
	}
	return BuildDifferent
}

// clientSums are the sums of the client's own modules as the worker said them, in records of both schemas. A replaced module has none, so a
// checkout's come from its build.
func clientSums(h record.Header) map[string]string {
	sums := map[string]string{}
	if h.ClientBuild != nil {
		for _, m := range h.ClientBuild.Modules {
			if ofClient(h, m) {
				sums[lastPart(m.Path)] = m.Sum
			}
		}
	}
	if len(sums) == 0 {
		for key, value := range h.Client.Build {
			if name, ok := strings.CutSuffix(key, " sum"); ok {
				sums[name] = value
			}
		}
	}
	return sums
}

func lastPart(path string) string { return path[strings.LastIndex(path, "/")+1:] }

// identity lists what the two records are of.
func identity(a, b *record.Run) []Trait {
	var list []Trait
	add := func(name string, of func(*record.Run) string) {
		t := Trait{Name: name, A: known(of(a)), B: known(of(b))}
		t.Same = t.A == t.B
		list = append(list, t)
	}
	add("client", func(r *record.Run) string { return r.Header.Client.Client })
	add("version", func(r *record.Run) string { return r.Header.Client.Version })
	ofBuild := func(name string, of func(*record.Build) string) {
		add(name, func(r *record.Run) string {
			if r.Header.ClientBuild == nil {
				return ""
			}
			return of(r.Header.ClientBuild)
		})
	}
	ofBuild("asked for as", func(b *record.Build) string { return b.Spec })
	ofBuild("client revision", func(b *record.Build) string { return b.Revision })
	ofBuild("content hash", func(b *record.Build) string { return b.ContentHash })
	add("client's Go", clientGo)
	ofBuild("build flags", func(b *record.Build) string { return b.Flags })
	list = append(list, moduleTraits(a.Header, b.Header)...)
	add("builds in the run", func(r *record.Run) string {
		if r.Header.Baseline != nil {
			return "two; the candidate is compared"
		}
		return "one"
	})
	list = append(list, brokerTraits(a, b)...)
	add("OS/arch", func(r *record.Run) string { return r.Header.Machine.OS + "/" + r.Header.Machine.Arch })
	add("CPU", func(r *record.Run) string { return r.Header.Machine.CPUModel })
	add("CPUs", func(r *record.Run) string { return strconv.Itoa(r.Header.Machine.CPUs) })
	add("memory", func(r *record.Run) string {
		return fmt.Sprintf("%.1f GiB", float64(r.Header.Machine.MemoryBytes)/(1<<30))
	})
	add("kernel", func(r *record.Run) string { return r.Header.Machine.Kernel })
	add("worker's CPU", func(r *record.Run) string { return pinning(r.Header.Machine.WorkerCPUs) })
	add("broker's CPU", func(r *record.Run) string { return pinning(r.Header.Machine.BrokerCPUs) })
	add("protocolbench", func(r *record.Run) string { return r.Header.Tool })
	add("its Go", func(r *record.Run) string { return r.Header.Machine.GoVersion })
	add("record schema", func(r *record.Run) string { return strconv.Itoa(r.Header.Schema) })
	add("profile", func(r *record.Run) string { return r.Header.Profile })
	add("budget", budgetText)
	add("tiers", func(r *record.Run) string {
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(r.Header.Tiers), " ", ", "), "[]")
	})
	add("margin asked for", func(r *record.Run) string {
		if r.Header.Margin == 0 {
			return "each family's own"
		}
		return percent(r.Header.Margin)
	})
	add("seed", func(r *record.Run) string { return strconv.FormatUint(r.Header.Seed, 10) })
	add("started", func(r *record.Run) string { return r.Header.Started.UTC().Format(time.DateTime + " UTC") })
	return list
}

func known(text string) string {
	if strings.Trim(text, "/") == "" {
		return unknown
	}
	return text
}

// clientGo is the toolchain that the client was built with, by its own word where the record says nothing of the build.
func clientGo(r *record.Run) string {
	if b := r.Header.ClientBuild; b != nil && b.GoVersion != "" {
		return b.GoVersion
	}
	return r.Header.Client.Build["go"]
}

func budgetText(r *record.Run) string {
	b := r.Header.Budget
	return fmt.Sprintf("%d x %d forks of %g squares, %g ms batches", b.Draws, b.Forks, b.Squares, float64(b.BatchTargetNs)/1e6)
}

func pinning(cpus []int) string {
	if len(cpus) == 0 {
		return "not pinned"
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(cpus), " ", ","), "[]")
}

// moduleTraits has one trait per module of either build: version and sum, since one version can have had two contents.
func moduleTraits(a, b record.Header) []Trait {
	modulesA, otherwiseA := modulesOf(a)
	modulesB, otherwiseB := modulesOf(b)
	all := maps.Clone(modulesA)
	maps.Copy(all, modulesB)
	var list []Trait
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t := Trait{Name: "module " + name, A: cmp.Or(modulesA[name], otherwiseA), B: cmp.Or(modulesB[name], otherwiseB)}
		t.Same = t.A == t.B
		list = append(list, t)
	}
	return list
}

// modulesOf goes by the build's list. In a record of schema 1 the worker itself names the client's own modules, by their short names; what else went
// into it nobody said. otherwise stands for a module that isn't there.
func modulesOf(h record.Header) (modules map[string]string, otherwise string) {
	modules = map[string]string{}
	if h.ClientBuild != nil {
		for _, m := range h.ClientBuild.Modules {
			name := m.Path
			if ofClient(h, m) {
				name = lastPart(m.Path)
			}
			modules[name] = m.Version + " " + m.Sum
		}
		return modules, "none"
	}
	for key, sum := range h.Client.Build {
		if name, ok := strings.CutSuffix(key, " sum"); ok {
			modules[name] = h.Client.Build[name] + " " + sum
		}
	}
	return modules, unknown
}

func ofClient(h record.Header, m record.Module) bool {
	return h.Client.Client != "" && strings.Contains(m.Path+"/", "/"+h.Client.Client+"/")
}

func brokerTraits(a, b *record.Run) []Trait {
	var list []Trait
	for tier := 1; tier <= 2; tier++ {
		textA, textB := brokerText(a, tier), brokerText(b, tier)
		if textA == "" && textB == "" {
			continue
		}
		t := Trait{Name: fmt.Sprintf("broker of tier %d", tier), A: textA, B: textB, Same: textA == textB}
		if textA == "" {
			t.A = "none"
		}
		if textB == "" {
			t.B = "none"
		}
		list = append(list, t)
	}
	return list
}

func brokerText(r *record.Run, tier int) string {
	b, ok := brokerOf(r, tier)
	if !ok {
		return ""
	}
	text := fmt.Sprintf("Kafka %s (%s)", known(b.Release), b.Provider)
	if b.Java != "" {
		text += ", Java " + b.Java
	}
	return text
}

func brokerOf(r *record.Run, tier int) (record.Broker, bool) {
	i := slices.IndexFunc(r.Brokers, func(b record.Broker) bool { return b.Tier == tier })
	if i < 0 {
		return record.Broker{}, false
	}
	return r.Brokers[i], true
}
