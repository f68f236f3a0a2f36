package compose

import (
	"strings"
	"testing"
)

func TestParseRelease(t *testing.T) {
	for number, want := range map[string]Kind{"4.4.0": KRaft, "4.0.0": KRaft, "5.1.2": KRaft, "1.1.0": ZooKeeper, "1.1.1": ZooKeeper} {
		got, err := ParseRelease(number)
		if err != nil || got.Kind != want || got.Number != number {
			t.Errorf("ParseRelease(%q) = %+v, %v; want kind %s", number, got, err, want)
		}
	}
	for _, number := range []string{"", "4", "4.4", "4.4.0.1", "v4.4.0", "4.4.x", "04.4.0", "4.-4.0", "latest", "../4.4.0", "3.9.0", "2.8.1", "1.0.0", "0.11.0"} {
		if got, err := ParseRelease(number); err == nil {
			t.Errorf("ParseRelease(%q) = %+v, want an error", number, got)
		}
	}
}

func TestDefaultReleasesHaveSums(t *testing.T) {
	for number, want := range map[string]int{DefaultRelease: 46, LegacyRelease: 18} {
		release, err := ParseRelease(number)
		if err != nil {
			t.Fatal(err)
		}
		sums := release.Sums()
		if len(sums) != want {
			t.Errorf("%s: %d sums, want %d", number, len(sums), want)
		}
		agents := 0
		for file := range sums {
			if strings.HasPrefix(file, "jolokia-agent-jvm-") {
				agents++
			}
		}
		if agents != 1 {
			t.Errorf("%s: %d Jolokia agents among the jars, want 1", number, agents)
		}
	}
	if sums := (Release{Number: "4.0.0", Kind: KRaft}).Sums(); sums != nil {
		t.Errorf("4.0.0 has %d committed sums, want none", len(sums))
	}
}

func TestConfigurationsAreFilledIn(t *testing.T) {
	ports := Ports{Port: 11001, ControllerPort: 11002, ZooKeeperPort: 11003, JolokiaPort: 11004, Dir: "/data/x"}
	for _, release := range []Release{{DefaultRelease, KRaft}, {LegacyRelease, ZooKeeper}} {
		text, err := release.Server(ports)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"//127.0.0.1:11001", "log.dirs=/data/x/data", "auto.create.topics.enable=false", "log.segment.delete.delay.ms=1000"} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s: server.properties lacks %q", release.Number, want)
			}
		}
		if strings.Contains(string(text), "{{") || strings.Contains(string(text), "0.0.0.0") {
			t.Errorf("%s: server.properties is not filled in, or listens to everybody:\n%s", release.Number, text)
		}
		if name, content := release.LogConfig(); len(content) == 0 || name == "" {
			t.Errorf("%s: no logging configuration", release.Number)
		}
		if !strings.Contains(string(release.POM()), "<kafka.release>"+release.Number) {
			t.Errorf("%s: the POM's release is another one", release.Number)
		}
	}
	zk, err := Release{LegacyRelease, ZooKeeper}.ZooKeeperConfig(ports)
	if err != nil || !strings.Contains(string(zk), "clientPortAddress=127.0.0.1") || !strings.Contains(string(zk), "clientPort=11003") {
		t.Errorf("zookeeper.properties: %v\n%s", err, zk)
	}
}

func TestParseSumsRefusesOtherLines(t *testing.T) {
	sum := strings.Repeat("a", 64)
	for _, bad := range []string{"x", sum + " 4.4.0/a.jar", sum + "  a.jar", sum + "  4.4.0/x/a.jar", sum[1:] + "  4.4.0/a.jar", sum + "  4.4.0/"} {
		if got, err := ParseSums([]byte(bad)); err == nil {
			t.Errorf("ParseSums(%q) = %v, want an error", bad, got)
		}
	}
}
