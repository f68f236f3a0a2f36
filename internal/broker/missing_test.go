package broker

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"protocolbench/compose"
	"protocolbench/internal/admin"
	"protocolbench/internal/measure"
	"protocolbench/internal/record"
	"protocolbench/pin"
)

// bin makes a folder of shell scripts to be a PATH.
func bin(t *testing.T, scripts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, body := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func printing(version string) string { return "/bin/cat >&2 <<'END'\n" + version + "\nEND" }

const (
	java17 = `openjdk version "17.0.15" 2025-04-15`
	java11 = `openjdk version "11.0.24" 2024-07-16`
	java8  = `java version "1.8.0_292"`
)

func TestWhatIsMissingIsNamed(t *testing.T) {
	home11 := t.TempDir()
	if err := os.Rename(bin(t, map[string]string{"java": printing(java11)}), filepath.Join(home11, "bin")); err != nil {
		t.Fatal(err)
	}
	with17 := bin(t, map[string]string{"java": printing("Picked up something\n" + java17)})
	for _, test := range []struct {
		name    string
		env     []string
		missing bool
		want    string
	}{
		{"no java", []string{"PATH=" + t.TempDir()}, true, "no java in PATH"},
		{"no PATH", []string{}, true, "no java in PATH"},
		{"java 11", []string{"PATH=" + bin(t, map[string]string{"java": printing(java11)})}, true, "is Java 11.0.24 (Java 17 or later"},
		{"java 8", []string{"PATH=" + bin(t, map[string]string{"java": printing(java8)})}, true, "is Java 1.8.0_292 (Java 17 or later"},
		{"JAVA_HOME with java 11 wins over PATH", []string{"PATH=" + with17, "JAVA_HOME=" + home11}, true, "is Java 11.0.24"},
		{"JAVA_HOME without java", []string{"PATH=" + with17, "JAVA_HOME=/nowhere"}, true, "JAVA_HOME is /nowhere"},
		{"no mvn", []string{"PATH=" + with17}, true, "no mvn in PATH"},
		{"java that fails", []string{"PATH=" + bin(t, map[string]string{"java": "echo broken >&2; exit 3"})}, false, "broken"},
		{"java of no version", []string{"PATH=" + bin(t, map[string]string{"java": "echo hello"})}, false, "names no version"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := StartJVM(context.Background(), JVMOptions{Tier: 1, CacheDir: t.TempDir(), Env: append(test.env, "HOME="+t.TempDir())})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, want %q in it", err, test.want)
			}
			var missing *Missing
			if errors.As(err, &missing) != test.missing {
				t.Errorf("Missing is %v, want %v: %v", !test.missing, test.missing, err)
			}
			if test.missing && !strings.Contains(err.Error(), "install") {
				t.Errorf("%v: names no command that installs it", err)
			}
		})
	}
}

func TestJavaVersions(t *testing.T) {
	for text, want := range map[string]int{
		java8: 8, java11: 11, java17: 17, `openjdk version "26-ea" 2026-03-17`: 26, `java version "21" 2023-09-19 LTS`: 21,
		"warning: x\n" + java17: 17, `openjdk version "x"`: 0, "": 0,
	} {
		if _, major, _ := parseJavaVersion(text); major != want {
			t.Errorf("%q: %d, want %d", text, major, want)
		}
	}
}

// fakeMaven writes two "jars" where it is told to, and counts its runs.
const fakeMaven = `for a in "$@"; do case $a in -DoutputDirectory=*) out=${a#*=} ;; esac; done
echo run >> "$COUNT"; sleep 0.1; mkdir -p "$out"; echo one > "$out/a.jar"; echo two > "$out/b.jar"`

func testJars(t *testing.T, release, maven string) (jars, func() int) {
	t.Helper()
	count := filepath.Join(t.TempDir(), "count")
	r, err := compose.ParseRelease(release)
	if err != nil {
		t.Fatal(err)
	}
	env := environment{"PATH=" + bin(t, map[string]string{"mvn": maven}) + ":/usr/bin:/bin", "COUNT=" + count}
	j := jars{r, filepath.Join(t.TempDir(), "jars", release), env, func(string) {}}
	return j, func() int {
		text, _ := os.ReadFile(count)
		return strings.Count(string(text), "run")
	}
}

// A release without committed sums: recorded on first use, checked later, fetched once however many ask at the same time.
func TestOtherReleaseIsRecordedAndChecked(t *testing.T) {
	j, runs := testJars(t, "4.1.0", fakeMaven)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := j.provide(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if runs() != 1 {
		t.Errorf("Maven ran %d times, want once", runs())
	}
	entries, err := os.ReadDir(filepath.Dir(j.dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if strings.Contains(entry.Name(), ".part-") {
			t.Errorf("%s was left", entry.Name())
		}
	}
	for _, test := range []struct{ name, file, content, want string }{
		{"changed", "a.jar", "other", "a.jar has SHA-256 d9298a10d1b0735837dc4bd85dac641b0f3cef27a47e5d53a54f2f3f5b2fcffa and should have 2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806"},
		{"extra", "c.jar", "three", "c.jar (SHA-256"},
		{"gone", "b.jar", "", "b.jar is missing"},
		{"no sums", sumsFile, "", "has no sums"},
		{"bad sums", sumsFile, "garbage", "is not \"SUM"},
	} {
		path := filepath.Join(j.dir, test.file)
		before, errBefore := os.ReadFile(path)
		if test.content == "" {
			err = os.Remove(path)
		} else {
			err = os.WriteFile(path, []byte(test.content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := j.provide(t.Context()); err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "delete "+j.dir) {
			t.Errorf("%s: got %v, want %q and the folder to delete", test.name, err, test.want)
		}
		if errBefore == nil {
			err = os.WriteFile(path, before, 0o644)
		} else {
			err = os.Remove(path)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := j.provide(t.Context()); err != nil {
			t.Errorf("%s, undone: %v", test.name, err)
		}
	}
}

// Maven gives other files than the committed sums name: nothing gets into the cache.
func TestDefaultReleaseHasToBeTheCommittedOne(t *testing.T) {
	j, _ := testJars(t, compose.DefaultRelease, fakeMaven)
	if err := j.provide(t.Context()); err == nil || !strings.Contains(err.Error(), "is not what this tool was tried with") {
		t.Errorf("got %v", err)
	}
	if exists(j.dir) {
		t.Error("it is in the cache all the same")
	}
}

func TestMavenThatFails(t *testing.T) {
	j, _ := testJars(t, "4.1.0", "echo '[ERROR] Could not resolve dependencies'; exit 1")
	if err := j.provide(t.Context()); err == nil || !strings.Contains(err.Error(), "Could not resolve dependencies") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	j, _ = testJars(t, "4.1.0", "sleep 600")
	j.say = func(string) { cancel() }
	if err := j.provide(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if exists(j.dir) {
		t.Error("a fetch that was cancelled left a folder")
	}
}

// The jars of the machine's own cache, one of them changed in a copy: checked at every start, named with both sums.
func TestCorruptJarOfADefaultRelease(t *testing.T) {
	o := needCache(t, 1)
	s, err := prepare(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	folder := filepath.Join(cache, "jars", compose.DefaultRelease)
	if err := os.CopyFS(folder, os.DirFS(s.jars)); err != nil {
		t.Fatal(err)
	}
	o.CacheDir = cache
	if _, err := prepare(t.Context(), o); err != nil {
		t.Fatalf("a good copy: %v", err)
	}
	const jar = "kafka_2.13-4.4.0.jar"
	content, err := os.ReadFile(filepath.Join(folder, jar))
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/2] ^= 1
	if err := os.WriteFile(filepath.Join(folder, jar), content, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = StartJVM(t.Context(), o)
	want := s.release.Sums()[jar]
	if err == nil || !strings.Contains(err.Error(), jar) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "delete "+folder) {
		t.Errorf("got %v", err)
	}
}

func TestReleasesThatWereNeverTried(t *testing.T) {
	for _, release := range []string{"3.9.0", "2.0.0", "latest", "../../etc"} {
		if _, err := StartJVM(t.Context(), JVMOptions{Release: release}); err == nil || !strings.Contains(err.Error(), "4.") {
			t.Errorf("%s: %v", release, err)
		}
	}
}

func TestCacheDir(t *testing.T) {
	if dir, err := CacheDir([]string{"PROTOCOL_BENCH_CACHE=/x/y"}); err != nil || dir != "/x/y" {
		t.Errorf("got %q, %v", dir, err)
	}
	if dir, err := CacheDir([]string{}); err == nil && filepath.Base(dir) != "protocolbench" {
		t.Errorf("got %q", dir)
	}
}

func TestAttachSaysWhatIsWrong(t *testing.T) {
	fake, err := StartEmbedded(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer fake.Stop(context.Background())
	answering := func(status int, body string) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}))
		t.Cleanup(server.Close)
		return server.URL + "/jolokia"
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := l.Addr().String()
	_ = l.Close()
	for _, test := range []struct {
		name, address, jolokia, want string
	}{
		{"nobody listens", nobody, "", "no broker can be reached"},
		{"no such port", "127.0.0.1:99999", "", "no broker can be reached"},
		{"Jolokia 401", fake.Addresses()[0], answering(401, ""), "pass credentials in the URL"},
		{"Jolokia garbage", fake.Addresses()[0], answering(200, "<html>"), "not a Jolokia agent"},
		{"Jolokia nowhere", fake.Addresses()[0], "http://" + nobody + "/jolokia", "cannot be reached"},
		{"Jolokia of something else", fake.Addresses()[0], answering(200, `{"status":200,"value":{"agent":"2.5.0"}}`), "does not answer as a Kafka broker"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := Attach(t.Context(), []string{test.address}, test.jolokia, 1); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q in it", err, test.want)
			}
		})
	}
}

// One JVM's metrics don't speak for a cluster of several.
func TestAttachToSeveralBrokers(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(3))
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	one := cluster.ListenAddrs()[:1] // the other two are in its metadata only
	_, err = Attach(t.Context(), one, "http://127.0.0.1:1/jolokia", 1)
	if err == nil || !strings.Contains(err.Error(), "has 3 brokers") || !strings.Contains(err.Error(), "leave out --jolokia") {
		t.Errorf("with Jolokia: %v", err)
	}
	b, err := Attach(t.Context(), one, "", 1)
	if err != nil {
		t.Fatalf("without Jolokia: %v", err)
	}
	_ = b.Stop(context.Background())
}

func TestRedacted(t *testing.T) {
	for raw, want := range map[string]string{
		"http://user:pa55@host:8778/jolokia": "http://user:***@host:8778/jolokia",
		"http://user:p%40s@host/x?y=z":       "http://user:***@host/x?y=z",
		"http://user@host/":                  "http://user@host/",
		"http://host/a:b@c":                  "http://host/a:b@c",
		"http://user:pa ss@ho st/":           "(a URL that cannot be read)",
	} {
		if got := Redacted(raw); got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
}

func TestEmbedded(t *testing.T) {
	for tier, want := range map[int][4]int{1: {3, 13, 4, 18}, 2: {3, 5, 4, 7}} {
		b, err := StartEmbedded(t.Context(), tier)
		if err != nil {
			t.Fatal(err)
		}
		row := b.Row()
		if row.Provider != ProviderEmbedded || row.Tier != tier || row.ClusterID == "" || row.FetchConverts || row.JolokiaURL != "" || b.PID() != 0 || !strings.HasPrefix(row.Release, "kfake ") {
			t.Errorf("tier %d: %+v", tier, row)
		}
		a, err := admin.New(t.Context(), b.Addresses())
		if err != nil {
			t.Fatal(err)
		}
		var got [4]int
		for i, api := range []pin.API{pin.Produce, pin.Fetch} {
			if got[2*i], got[2*i+1], err = a.Advertised(t.Context(), api.Key); err != nil {
				t.Fatal(err)
			}
		}
		if got != want {
			t.Errorf("tier %d advertises Produce and Fetch %v, want %v", tier, got, want)
		}
		e := NewObserver(b, a).Evidence(t.Context(), pin.Fetch, "none")
		if e.Requests.State != measure.Unreadable || e.Requests.Why == "" || e.RequestsListed || e.ClusterID != row.ClusterID {
			t.Errorf("tier %d: %+v", tier, e)
		}
		if old := NewObserver(b, a).OldFetch(t.Context()); old.Applies || old.Control != record.ControlOldFetch || old.Kind != record.KindControl {
			t.Errorf("tier %d: %+v", tier, old)
		}
		a.Close()
		for range 2 {
			if err := b.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		}
	}
}
