package broker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"protocolbench/compose"
	"protocolbench/internal/record"
)

// JVMOptions say which broker to start as a process of ours.
type JVMOptions struct {
	Release  string // "" is the tier's default
	Tier     int
	CacheDir string // for jars; "" is CacheDir's answer
	CPUs     []int  // to pin the broker to; none: not pinned
	// Progress gets a line now and then: a download, a port that was taken. May be nil.
	Progress func(string)
	// Properties are added to the broker's configuration, one "name=value" each.
	Properties []string
	// FixedPort is the client port of the first try, for tests of the port race; 0 chooses a free one.
	FixedPort int
	// Env is the environment for look-ups (PATH, JAVA_HOME) and children; nil is this process's.
	Env []string
}

const (
	// readyDeadline is far above what was seen on a loaded machine (11 s), and bounds a broker that hangs.
	readyDeadline = 90 * time.Second
	portTries     = 3
)

// errPortTaken means that another process took a port between choice and use.
var errPortTaken = errors.New("a port was taken by another process between choice and use")

// setup is what all tries to start a broker share.
type setup struct {
	options JVMOptions
	release compose.Release
	java    java
	jars    string // folder
	env     environment
	say     func(string)
}

// jvm is a broker in a process of ours, with its ZooKeeper where it needs one.
type jvm struct {
	setup
	dir    string
	ports  compose.Ports
	keeper *keeper
	row    record.Broker

	processes []*process // the broker is the last
	exited    chan struct{}

	stopOnce sync.Once
	stopping chan struct{}
	stopErr  error
}

// StartJVM starts a broker and returns when it answers. Whatever goes wrong, nothing of it stays behind.
func StartJVM(ctx context.Context, o JVMOptions) (Broker, error) {
	s, err := prepare(ctx, o)
	if err != nil {
		return nil, err
	}
	sweep(folderBases(), s.say)
	for try := 1; ; try++ {
		port := 0
		if try == 1 {
			port = o.FixedPort
		}
		b, err := s.try(ctx, port)
		switch {
		case err == nil:
			return b, nil
		case ctx.Err() != nil:
			return nil, fmt.Errorf("starting Kafka %s: %w", s.release.Number, ctx.Err())
		case !errors.Is(err, errPortTaken) || try == portTries:
			return nil, err
		}
		s.say(fmt.Sprintf("Kafka %s: %v; trying again with other ports (try %d of %d)", s.release.Number, errPortTaken, try+1, portTries))
	}
}

// prepare checks what is needed, cheapest first: the release's number, Java, Maven, the jars.
func prepare(ctx context.Context, o JVMOptions) (*setup, error) {
	s := &setup{options: o, env: o.Env, say: o.Progress}
	if s.say == nil {
		s.say = func(string) {}
	}
	if s.env == nil {
		s.env = os.Environ()
	}
	number := o.Release
	if number == "" {
		number = compose.DefaultRelease
		if o.Tier == 2 {
			number = compose.LegacyRelease
		}
	}
	var err error
	if s.release, err = compose.ParseRelease(number); err != nil {
		return nil, err
	}
	if s.java, err = findJava(ctx, s.env); err != nil {
		return nil, err
	}
	cache := o.CacheDir
	if cache == "" {
		if cache, err = CacheDir(s.env); err != nil {
			return nil, err
		}
	}
	// The broker runs in a folder of its own, where a relative path would mean something else.
	if cache, err = filepath.Abs(cache); err != nil {
		return nil, err
	}
	s.jars = filepath.Join(cache, "jars", number)
	return s, jars{s.release, s.jars, s.env, s.say}.provide(ctx)
}

// try is one try to start: a folder, ports and processes of its own.
func (s *setup) try(ctx context.Context, fixedPort int) (*jvm, error) {
	started := time.Now()
	j := &jvm{setup: *s, exited: make(chan struct{}), stopping: make(chan struct{})}
	ctx, cancel := context.WithTimeout(ctx, readyDeadline)
	defer cancel()
	err := j.startAll(ctx, fixedPort)
	if err == nil {
		err = j.describe(ctx, started)
	}
	if err != nil {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
		defer cancel()
		return nil, errors.Join(err, j.Stop(stopping))
	}
	go j.notice()
	return j, nil
}

func (j *jvm) startAll(ctx context.Context, fixedPort int) (err error) {
	if j.dir, err = newFolder(); err != nil {
		return err
	}
	if j.keeper, err = startKeeper(j.dir); err != nil {
		return err
	}
	if j.ports, err = choosePorts(j.dir, fixedPort); err != nil {
		return err
	}
	if err := j.writeConfigs(); err != nil {
		return err
	}
	if j.release.Kind == compose.KRaft {
		err = j.format(ctx)
	} else {
		err = j.startZooKeeper(ctx)
	}
	if err != nil {
		return err
	}
	return j.startBroker(ctx)
}

// notice closes exited when one of the processes ends and nobody asked for it.
func (j *jvm) notice() {
	first := make(chan struct{}, len(j.processes))
	for _, p := range j.processes {
		go func() {
			<-p.done
			first <- struct{}{}
		}()
	}
	<-first
	select {
	case <-j.stopping:
	default:
		close(j.exited)
	}
}

func (j *jvm) Row() record.Broker  { return j.row }
func (j *jvm) Addresses() []string { return []string{fmt.Sprintf("127.0.0.1:%d", j.ports.Port)} }
func (j *jvm) JolokiaURL() string {
	return fmt.Sprintf("http://127.0.0.1:%d/jolokia", j.ports.JolokiaPort)
}
func (j *jvm) PID() int                { return j.processes[len(j.processes)-1].pid() }
func (j *jvm) Exited() <-chan struct{} { return j.exited }

// LogTail gives the broker's last lines; ZooKeeper's too, if it is what ended.
func (j *jvm) LogTail(n int) []string {
	var lines []string
	for i, p := range j.processes {
		if i == len(j.processes)-1 || p.ended() {
			lines = append(lines, p.log.last(n)...)
		}
	}
	return lines[max(0, len(lines)-n):]
}

// Stop ends the processes and removes the folder. If ctx ends before the processes have, the keeper is left to do it.
func (j *jvm) Stop(ctx context.Context) error {
	j.stopOnce.Do(func() { j.stopErr = j.stop(ctx) })
	return j.stopErr
}

func (j *jvm) stop(ctx context.Context) error {
	close(j.stopping)
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		for i := len(j.processes) - 1; i >= 0; i-- {
			j.processes[i].kill()
		}
	}()
	select {
	case <-killed:
	case <-ctx.Done():
		if j.keeper != nil {
			j.keeper.act()
		}
		return fmt.Errorf("broker %s was killed and has not ended yet (%w); %s will be removed when it has", j.release.Number, ctx.Err(), j.dir)
	}
	var err error
	if j.dir != "" {
		err = os.RemoveAll(j.dir)
	}
	if j.keeper != nil {
		j.keeper.dismiss()
	}
	if err != nil {
		return fmt.Errorf("cannot remove the broker's folder: %w", err)
	}
	return nil
}
