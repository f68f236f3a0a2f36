// Package build makes a worker of any build of the client: a release that the module proxy has, or a checkout. The project's own go.mod, the
// checkout and its folder stay as they are: worker and client are put together in a folder of the cache, under a name made of the contents.
package build

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// clientName is the client that there is a worker for.
const clientName = "franz-go"

// Spec is what --client or --baseline names.
type Spec struct {
	Client  string // "franz-go"
	Release string // a version, or whatever else the go command takes for one: latest, a branch, a commit
	Dir     string // a checkout, absolute
	given   string
}

const specForms = "give franz-go (the release that is built in), franz-go@VERSION, or franz-go=DIR (a checkout)"

// Parse reads franz-go, franz-go@v1.20.0 and franz-go=DIR.
func Parse(text string) (Spec, error) {
	spec := Spec{Client: clientName, given: text}
	rest, isOurs := strings.CutPrefix(text, clientName)
	switch {
	case isOurs && rest == "":
		return spec, nil
	case isOurs && rest[0] == '@':
		spec.Release = rest[1:]
		if spec.Release == "" {
			return Spec{}, errors.New("no version stands after franz-go@; give one, e.g. franz-go@v1.20.0")
		}
		if strings.ContainsAny(spec.Release, "=@ \t\n,") || strings.HasPrefix(spec.Release, "-") {
			return Spec{}, fmt.Errorf("%q is no version; give one, e.g. franz-go@v1.20.0", spec.Release)
		}
		return spec, nil
	case isOurs && rest[0] == '=':
		if rest == "=" {
			return Spec{}, errors.New("no folder stands after franz-go=; give the root of a checkout, e.g. franz-go=../franz-go")
		}
		dir, err := filepath.Abs(rest[1:])
		if err != nil {
			return Spec{}, fmt.Errorf("the folder %s can't be found from here: %w", rest[1:], err)
		}
		spec.Dir = dir
		return spec, nil
	}
	return Spec{}, fmt.Errorf("unknown client %q; %s", text, specForms)
}

func (s Spec) String() string { return s.given }

// BuiltIn tells whether it is the release that is linked into this program.
func (s Spec) BuiltIn() bool { return s.Release == "" && s.Dir == "" }
