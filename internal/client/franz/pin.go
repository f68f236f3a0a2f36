package franz

import (
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"

	"protocolbench/internal/driver"
)

// apiVersionsMax keeps connecting the same on every broker: franz-go begins with ApiVersions v5, which brokers below 4.4 answer
// with "unsupported", and asks again.
const apiVersionsMax = 4

// pinned gives the options that make a client speak exactly this version of one API. MaxVersions alone would not: below
// its maximum the client negotiates down in silence. MinVersions has only the pinned key: every other API stays as the client would
// have it, Metadata above all, whose topic ids decide whether Produce v13 and Fetch v13 can be spoken at all.
func pinned(key int16, version int) []kgo.Opt {
	if version == driver.Unpinned {
		return nil
	}
	highest := kversion.Stable()
	highest.SetMaxKeyVersion(key, int16(version))
	highest.SetMaxKeyVersion(keyAPIVersions, apiVersionsMax)
	lowest := new(kversion.Versions)
	lowest.SetMaxKeyVersion(key, int16(version))
	return []kgo.Opt{kgo.MaxVersions(highest), kgo.MinVersions(lowest)}
}
