package broker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"protocolbench/compose"
	"protocolbench/internal/measure"
)

// sumsFile holds the sums of a release that has no committed ones, as they were on first use. It stands beside the jars: -cp 'DIR/*'
// takes nothing but jars.
const sumsFile = "SHA256SUMS"

// CacheDir is where jars are kept: $PROTOCOL_BENCH_CACHE, or protocolbench in the user's cache folder. A nil env is this process's.
func CacheDir(env []string) (string, error) {
	if env == nil {
		env = os.Environ()
	}
	if dir := environment(env).get("PROTOCOL_BENCH_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("there is no cache folder for the brokers' jars (%w): set PROTOCOL_BENCH_CACHE to a folder", err)
	}
	return filepath.Join(base, "protocolbench"), nil
}

// jars is a release's jars in the cache.
type jars struct {
	release compose.Release
	dir     string // CACHE/jars/RELEASE
	env     environment
	say     func(string)
}

// provide gives the folder of the release's jars, fetched by Maven if need be, checked against their sums in any case.
func (j jars) provide(ctx context.Context) error {
	if isDir(j.dir) {
		return j.check(j.dir)
	}
	mvn, ok := j.env.find("mvn")
	if !ok {
		return &Missing{What: fmt.Sprintf("the jars of Kafka %s are not in %s, and there is no mvn in PATH to fetch them (Maven is needed once)", j.release.Number, filepath.Dir(j.dir)), Install: installMaven()}
	}
	if err := os.MkdirAll(filepath.Dir(j.dir), 0o755); err != nil {
		return fmt.Errorf("cannot make the folder for the brokers' jars: %w; set PROTOCOL_BENCH_CACHE to a folder that can be written", err)
	}
	unlock, err := lockFile(ctx, j.dir+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	if isDir(j.dir) { // somebody else fetched them while we waited
		return j.check(j.dir)
	}
	return j.fetch(ctx, mvn)
}

// fetch copies the jars into a folder beside the final one and renames it, so that a folder of that name is always whole.
func (j jars) fetch(ctx context.Context, mvn string) error {
	j.say(fmt.Sprintf("fetching the jars of Kafka %s with Maven", j.release.Number))
	part, err := os.MkdirTemp(filepath.Dir(j.dir), j.release.Number+".part-")
	if err != nil {
		return fmt.Errorf("cannot make a folder for the jars of Kafka %s: %w", j.release.Number, err)
	}
	defer os.RemoveAll(part)
	lib, pom := filepath.Join(part, "lib"), filepath.Join(part, "pom.xml")
	if err := os.WriteFile(pom, j.release.POM(), 0o644); err != nil {
		return err
	}
	if err := j.runMaven(ctx, mvn, pom, lib); err != nil {
		return err
	}
	sums, err := sumFolder(lib)
	if err != nil {
		return err
	}
	if len(sums) == 0 {
		return fmt.Errorf("no jar of Kafka %s came from Maven, which reports success", j.release.Number)
	}
	if committed := j.release.Sums(); committed == nil {
		if err := os.WriteFile(filepath.Join(lib, sumsFile), formatSums(j.release.Number, sums), 0o644); err != nil {
			return err
		}
	} else if err := compareSums(committed, sums); err != nil {
		return fmt.Errorf("what Maven gave for Kafka %s is not what this tool was tried with: %w; delete the file in Maven's own repository (~/.m2/repository) and try again, or ask where your Maven mirror has it from", j.release.Number, err)
	}
	return os.Rename(lib, j.dir)
}

func (j jars) runMaven(ctx context.Context, mvn, pom, lib string) error {
	cmd := exec.Command(mvn, "-q", "-B", "-Dstyle.color=never", "-f", pom, "dependency:copy-dependencies", "-DoutputDirectory="+lib, "-Dkafka.release="+j.release.Number)
	cmd.Env = j.env
	cmd.WaitDelay = 2 * time.Second
	tail := newTail(40)
	cmd.Stdout, cmd.Stderr = tail, tail
	if err := measure.StartPinned(cmd, nil); err != nil {
		return fmt.Errorf("cannot start Maven (%s): %w", mvn, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = measure.KillGroup(cmd.Process.Pid, unix.SIGKILL) })
	defer stop()
	err := cmd.Wait()
	if ctx.Err() != nil {
		return fmt.Errorf("fetching the jars of Kafka %s: %w", j.release.Number, ctx.Err())
	}
	if err != nil {
		return fmt.Errorf("cannot fetch Kafka %s with Maven (%w): check the release number, the network and Maven's settings; it said:\n%s", j.release.Number, err, tail.text(12))
	}
	return nil
}

// check compares every jar with its sum: the committed ones for the default releases, else those recorded on first use.
func (j jars) check(dir string) error {
	want := j.release.Sums()
	if want == nil {
		recorded, err := os.ReadFile(filepath.Join(dir, sumsFile))
		if err != nil {
			return fmt.Errorf("%s has no sums of its jars (%w): delete %s, and it will be fetched again", dir, err, dir)
		}
		all, err := compose.ParseSums(recorded)
		if err != nil {
			return fmt.Errorf("%s: %w: delete %s, and it will be fetched again", filepath.Join(dir, sumsFile), err, dir)
		}
		want = all[j.release.Number]
	}
	got, err := sumFolder(dir)
	if err != nil {
		return err
	}
	if err := compareSums(want, got); err != nil {
		return fmt.Errorf("corrupt jar in %s: %w; delete %s, and it will be fetched again", dir, err, dir)
	}
	return nil
}

func compareSums(want, got map[string]string) error {
	for _, file := range slices.Sorted(maps.Keys(want)) {
		switch sum, ok := got[file]; {
		case !ok:
			return fmt.Errorf("%s is missing", file)
		case sum != want[file]:
			return fmt.Errorf("%s has SHA-256 %s and should have %s", file, sum, want[file])
		}
	}
	for _, file := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[file]; !ok {
			return fmt.Errorf("%s (SHA-256 %s) does not belong there", file, got[file])
		}
	}
	return nil
}

// sumFolder gives the sums of everything in a folder but the list of sums itself.
func sumFolder(dir string) (map[string]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot read the jars: %w", err)
	}
	sums := make(map[string]string, len(entries))
	for _, entry := range entries {
		if entry.Name() == sumsFile {
			continue
		}
		if sums[entry.Name()], err = sumOf(filepath.Join(dir, entry.Name())); err != nil {
			return nil, fmt.Errorf("cannot read a jar: %w; delete %s, and it will be fetched again", err, dir)
		}
	}
	return sums, nil
}

func sumOf(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

func formatSums(folder string, sums map[string]string) []byte {
	var text strings.Builder
	for _, file := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(&text, "%s  %s/%s\n", sums[file], folder, file)
	}
	return []byte(text.String())
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// lockFile waits for an exclusive lock, which ends with its holder. Waiting beats fetching twice: Maven's own repository is not safe for
// two writers either.
func lockFile(ctx context.Context, path string) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("cannot lock the cache: %w", err)
	}
	for {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { _ = file.Close() }, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			_ = file.Close()
			return nil, fmt.Errorf("cannot lock the cache: %w", &fs.PathError{Op: "flock", Path: path, Err: err})
		}
		select {
		case <-ctx.Done():
			_ = file.Close()
			return nil, fmt.Errorf("waiting for another process that fetches the same jars: %w", ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}
