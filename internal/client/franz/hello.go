package franz

import (
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"protocolbench/internal/driver"
)

const (
	moduleClient = "github.com/twmb/franz-go"
	moduleKmsg   = "github.com/twmb/franz-go/pkg/kmsg"
	unknown      = "unknown"
)

// Stamps that a build of one client among several is given by the linker (-X); empty in a worker that was built by hand. They are
// what the parent compares with what it had built.
var stampVersion, stampContent, stampLayout string

// Hello says which build this is, from what the linker wrote into it.
func (e *Engine) Hello() driver.Hello {
	hello := driver.Hello{
		Client:    "franz-go",
		Version:   unknown,
		Build:     map[string]string{"go": runtime.Version(), "arch": runtime.GOARCH},
		Abilities: []string{"codec", "live", "plant", "steady", "hash", "frames", "own-version", driver.ModeFraming, driver.AbilityMessages, driver.AbilityProfile, driver.AbilityHeap},
		Messages:  messageRanges(),
	}
	if runtime.GOOS == "linux" {
		hello.Abilities = append(hello.Abilities, "tcp")
	}
	for _, api := range []string{apiProduce, apiFetch} {
		if implemented, ok := implementedOf(api); ok {
			hello.Implemented = append(hello.Implemented, implemented)
		}
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		describe(&hello, info)
	}
	if stampContent != "" {
		hello.Version = stampVersion
		hello.Build["content"], hello.Build["layout"] = stampContent, stampLayout
	}
	return hello
}

// describe takes the two modules that are under test from the build's own list. A replaced module is what replaced it: a
// local checkout has no version and no sum, its directory says which one it was.
func describe(hello *driver.Hello, info *debug.BuildInfo) {
	for _, setting := range info.Settings {
		switch setting.Key {
		case "-ldflags", "-gcflags", "-tags", "GOAMD64", "GOARM64", "GOEXPERIMENT", "-race":
			hello.Build[setting.Key] = setting.Value
		}
	}
	for _, module := range info.Deps {
		if module.Path != moduleClient && module.Path != moduleKmsg {
			continue
		}
		name := "franz-go"
		if module.Path == moduleKmsg {
			name = "kmsg"
		}
		if module.Replace != nil {
			hello.Build[name+" replaced by"] = strings.TrimSpace(module.Replace.Path + " " + module.Replace.Version)
			if module.Replace.Version == "" {
				module = &debug.Module{Path: module.Path, Version: module.Replace.Path, Sum: module.Replace.Sum}
			} else {
				module = module.Replace
			}
		}
		hello.Build[name] = module.Version
		if module.Sum != "" {
			hello.Build[name+" sum"] = module.Sum
		}
		if name == "franz-go" {
			hello.Version = module.Version
		}
	}
}

// implementedOf is what the client can be made to speak: what its message package can write, as far as the client itself
// goes (kversion.Stable).
func implementedOf(api string) (driver.Range, bool) {
	var highest int16
	switch api {
	case apiProduce:
		highest = kmsg.NewPtrProduceRequest().MaxVersion()
	case apiFetch:
		highest = kmsg.NewPtrFetchRequest().MaxVersion()
	default:
		return driver.Range{}, false
	}
	if stable, ok := kversion.Stable().LookupMaxKeyVersion(keyOf(api)); ok {
		highest = min(highest, stable)
	}
	return driver.Range{API: api, Key: keyOf(api), Min: 0, Max: highest}, true
}
