package record

import (
	"fmt"
	"path/filepath"
)

// Profile is a CPU profile of one version of a family beside another's, taken after the tier's last block, in a worker of its own. No verdict stands on it.
type Profile struct {
	Kind    string      `json:"kind"`
	Tier    int         `json:"tier"`
	Family  string      `json:"family"`
	Why     string      `json:"why"`               // asked for, or what was called
	Missing string      `json:"missing,omitempty"` // why there is none; the following is not there then
	Of      ProfileSide `json:"of"`
	Against ProfileSide `json:"against"`
	// Difference is a profile of what Of took more, in pprof's format; Text says the same in words. Both are files beside the record, by their names from there.
	Difference string        `json:"difference,omitempty"`
	Text       string        `json:"text,omitempty"`
	Top        []ProfileLine `json:"top,omitempty"` // the functions with the largest differences of their own code
}

// ProfileSide is what was profiled of one version.
type ProfileSide struct {
	Version  int    `json:"version"`
	Build    string `json:"build,omitempty"` // BuildBaseline, or nothing
	File     string `json:"file,omitempty"`  // in pprof's format, beside the record
	Requests int    `json:"requests"`
	Records  int    `json:"records"`
	CPUNs    int64  `json:"cpuNs"` // of the timed parts
	Samples  int64  `json:"samples"`
}

// ProfileLine is a function's own time in both, per record, or per request where no records come.
type ProfileLine struct {
	Function  string  `json:"function"`
	Ns        float64 `json:"ns"`
	AgainstNs float64 `json:"againstNs"`
	Errors    float64 `json:"errors"` // how many standard errors the difference is from none, by the counts of samples
}

// checkFiles refuses names that lead out of the record's folder: whoever opens one follows the record.
func (p *Profile) checkFiles() error {
	for _, f := range []struct{ field, name string }{{"of.file", p.Of.File}, {"against.file", p.Against.File}, {"difference", p.Difference}, {"text", p.Text}} {
		if f.name != "" && !filepath.IsLocal(f.name) {
			return fmt.Errorf("field %s: %q is no file below the record's folder", f.field, f.name)
		}
	}
	return nil
}

func (r *reader) placeProfile(row *Profile) error {
	if err := row.checkFiles(); err != nil {
		return err
	}
	index, declared := r.families[row.Family]
	if !declared {
		return fmt.Errorf("field family: no row before this one declares the family %q", row.Family)
	}
	family := &r.run.Families[index]
	family.Profiles = append(family.Profiles, *row)
	return nil
}

// Title names what is compared: "v9 against v18".
func (p *Profile) Title() string {
	name := func(side ProfileSide) string {
		if side.Build == BuildBaseline {
			return fmt.Sprintf("the baseline's v%d", side.Version)
		}
		return fmt.Sprintf("v%d", side.Version)
	}
	return name(p.Of) + " against " + name(p.Against)
}
