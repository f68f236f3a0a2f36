package build

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"protocolbench"
	"protocolbench/internal/record"
)

// workerSum is one number for the worker's own sources. The modules that it needs beside are listed with their own sums.
func workerSum() string {
	hash := sha256.New()
	err := fs.WalkDir(protocolbench.WorkerSource, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		content, err := protocolbench.WorkerSource.ReadFile(name)
		fmt.Fprintf(hash, "%x  %s\n", sha256.Sum256(content), name)
		return err
	})
	if err != nil {
		panic(err) // embedded by the compiler
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// clientModules are what a record names of a build.
var clientModules = []string{modulePath, kmsgPath, "github.com/klauspost/compress", "github.com/pierrec/lz4/v4"}

// Own is the identity of the client that is linked into this program, the file of which is executable.
func Own(executable string) (record.Build, error) {
	sum, err := fileSum(executable)
	if err != nil {
		return record.Build{}, fmt.Errorf("this program's own file can't be read, so the build of the client in it can't be named: %w", err)
	}
	own := record.Build{Spec: clientName, Version: BuiltInRelease(), ContentHash: sum, GoVersion: runtime.Version(), Modules: []record.Module{}}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return own, nil
	}
	for _, module := range info.Deps {
		if slices.Contains(clientModules, module.Path) {
			own.Modules = append(own.Modules, record.Module{Path: module.Path, Version: module.Version, Sum: module.Sum})
		}
	}
	var flags []string
	for _, setting := range info.Settings {
		if strings.HasPrefix(setting.Key, "-") || strings.HasPrefix(setting.Key, "GO") || strings.HasPrefix(setting.Key, "CGO_ENABLED") {
			flags = append(flags, setting.Key+"="+setting.Value)
		}
	}
	own.Flags = strings.Join(flags, " ")
	return own, nil
}
