// Package compose has what a broker is made of: POMs that name its jars, checksums, and configuration templates. One set serves every
// way of having a broker, so that two ways can't differ in configuration.
package compose

import (
	"bytes"
	"embed"
	"fmt"
	"strconv"
	"strings"
	"text/template"
)

// Releases used when none is asked for.
const (
	DefaultRelease = "4.4.0" // tier 1
	LegacyRelease  = "1.1.0" // tier 2
)

//go:embed *.xml *.properties jars.sha256
var files embed.FS

// Kind is how a release is run.
type Kind string

const (
	KRaft     Kind = "kraft"
	ZooKeeper Kind = "zookeeper"
)

// Release is a Kafka release and how it is run.
type Release struct {
	Number string
	Kind   Kind
}

// Ports are the ports of one broker, all on 127.0.0.1.
type Ports struct {
	Port, ControllerPort, ZooKeeperPort, JolokiaPort int
	Dir                                              string // the broker's private folder
}

// ParseRelease says how a release is run. Releases between the two kinds that this tool has tried are refused: they start with other
// settings, and a broker that starts with the wrong ones gives figures, too.
func ParseRelease(number string) (Release, error) {
	fields := strings.Split(number, ".")
	parts := make([]int, 0, 3)
	for _, field := range fields {
		n, err := strconv.Atoi(field)
		if err != nil || n < 0 || strconv.Itoa(n) != field {
			return Release{}, fmt.Errorf("%q is no Kafka release: give three numbers, as in %s or %s", number, DefaultRelease, LegacyRelease)
		}
		parts = append(parts, n)
	}
	switch {
	case len(parts) != 3:
		return Release{}, fmt.Errorf("%q is no Kafka release: give three numbers, as in %s or %s", number, DefaultRelease, LegacyRelease)
	case parts[0] >= 4:
		return Release{Number: number, Kind: KRaft}, nil
	case parts[0] == 1 && parts[1] == 1:
		return Release{Number: number, Kind: ZooKeeper}, nil
	}
	return Release{}, fmt.Errorf("%s has not been tried with this tool: use 4.0.0 or later, or %s; or start it yourself and attach to it with --broker HOST:PORT --jolokia URL", "Kafka "+number, LegacyRelease)
}

// POM is the Maven project whose dependencies are the release's jars; the release is the property kafka.release.
func (r Release) POM() []byte { return read("pom-" + string(r.Kind) + ".xml") }

// LogConfig is the broker's logging configuration and the name it has to be stored under.
func (r Release) LogConfig() (name string, content []byte) {
	name = "log4j2.properties"
	if r.Kind == ZooKeeper {
		name = "log4j1.properties"
	}
	return name, read(name)
}

// Server is server.properties with its ports and folder filled in.
func (r Release) Server(p Ports) ([]byte, error) {
	return fill("server-"+string(r.Kind)+".properties", p)
}

// ZooKeeperConfig is zoo.cfg for releases that need one.
func (r Release) ZooKeeperConfig(p Ports) ([]byte, error) { return fill("zookeeper.properties", p) }

// Sums are the committed SHA-256 sums of a release's jars by file name, nil where none are committed.
func (r Release) Sums() map[string]string {
	sums, err := ParseSums(read("jars.sha256"))
	if err != nil {
		panic("compose: the embedded jars.sha256: " + err.Error()) // a build of this tool that can't have passed its tests
	}
	return sums[r.Number]
}

// ParseSums reads lines of "SUM  FOLDER/FILE" as sha256sum prints them: folder -> file -> sum.
func ParseSums(text []byte) (map[string]map[string]string, error) {
	sums := map[string]map[string]string{}
	for i, line := range strings.Split(string(text), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		sum, path, ok := strings.Cut(line, "  ")
		folder, file, okPath := strings.Cut(path, "/")
		if !ok || !okPath || len(sum) != 64 || file == "" || strings.Contains(file, "/") {
			return nil, fmt.Errorf("line %d is not \"SUM  FOLDER/FILE\": %q", i+1, line)
		}
		if sums[folder] == nil {
			sums[folder] = map[string]string{}
		}
		sums[folder][file] = sum
	}
	return sums, nil
}

func read(name string) []byte {
	content, err := files.ReadFile(name)
	if err != nil {
		panic("compose: " + err.Error()) // the name is one of ours
	}
	return content
}

func fill(name string, p Ports) ([]byte, error) {
	t, err := template.New(name).Option("missingkey=error").Parse(string(read(name)))
	if err != nil {
		return nil, fmt.Errorf("configuration template %s: %w", name, err)
	}
	var out bytes.Buffer
	if err := t.Execute(&out, p); err != nil {
		return nil, fmt.Errorf("configuration template %s: %w", name, err)
	}
	return out.Bytes(), nil
}
