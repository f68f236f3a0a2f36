package build

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// replacement is a replace line of a checkout's go.mod. The go command heeds those of the main module only, which here is the worker's: without
// a line of its own the build would silently be another than the one that the checkout's owner sees.
type replacement struct {
	Old, New struct{ Path, Version string }
}

func (r replacement) String() string {
	return "replace " + strings.TrimSpace(r.Old.Path+" "+r.Old.Version) + " => " + r.New.Path + " " + r.New.Version + "\n"
}

// readReplacements reads the replace lines of the copy of a checkout. One that leads to a folder is refused, unless it is the kmsg that is taken
// anyway: what lies there would be measured without being staged or named.
func (t *tree) readReplacements(ctx context.Context) error {
	file := filepath.Join(t.dir, clientFolder, "go.mod")
	out, stderr, err := t.tool.run(ctx, t.dir, "mod", "edit", "-json", file)
	if err != nil {
		return toolFault(ctx, err, stderr, "the go.mod of %s can't be read: %s", t.spec, firstLines(stderr, t.clean))
	}
	var parsed struct{ Replace []replacement }
	if err := json.Unmarshal([]byte(out), &parsed); err != nil {
		return fmt.Errorf("the answer of `go mod edit -json` about %s can't be read: %w", t.spec, err)
	}
	for _, r := range parsed.Replace {
		isOwnKmsg := t.checkout.kmsg && r.Old.Path == kmsgPath && filepath.ToSlash(filepath.Clean(r.New.Path)) == kmsgFolder
		switch {
		case isOwnKmsg:
		case r.New.Version == "":
			return faultf("the go.mod of %s replaces %s by the folder %s, which is no part of what is measured: take the line out, or replace it by a version", t.spec, r.Old.Path, r.New.Path)
		case r.Old.Path == kmsgPath && t.checkout.kmsg, r.Old.Path == modulePath:
			return faultf("the go.mod of %s replaces %s by %s, but the checkout has that module itself: take the line out", t.spec, r.Old.Path, r.New.Path)
		default:
			t.replaced = append(t.replaced, r)
		}
	}
	return nil
}
