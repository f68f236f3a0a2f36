package broker

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"protocolbench/compose"
	"protocolbench/internal/admin"
	"protocolbench/internal/jolokia"
)

// choosePorts asks the kernel for free ports, all held at once so that they differ. They are free again when this returns: who uses
// them has to be ready for one being taken.
func choosePorts(dir string, fixedPort int) (compose.Ports, error) {
	p := compose.Ports{Dir: dir}
	for _, port := range []*int{&p.Port, &p.ControllerPort, &p.ZooKeeperPort, &p.JolokiaPort} {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return p, fmt.Errorf("cannot find a free port on 127.0.0.1: %w", err)
		}
		defer l.Close()
		*port = l.Addr().(*net.TCPAddr).Port
	}
	if fixedPort != 0 {
		p.Port = fixedPort
	}
	return p, nil
}

func (j *jvm) writeConfigs() error {
	server, err := j.release.Server(j.ports)
	if err != nil {
		return err
	}
	for _, property := range j.options.Properties {
		server = append(server, property+"\n"...)
	}
	logName, logContent := j.release.LogConfig()
	files := map[string][]byte{"server.properties": server, logName: logContent}
	if j.release.Kind == compose.ZooKeeper {
		if files["zookeeper.properties"], err = j.release.ZooKeeperConfig(j.ports); err != nil {
			return err
		}
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(j.dir, name), content, 0o600); err != nil {
			return fmt.Errorf("cannot write the broker's configuration: %w", err)
		}
	}
	return os.Mkdir(filepath.Join(j.dir, "tmp"), 0o700)
}

// jvmArgs are the options of every JVM of ours, with its class path.
func (j *jvm) jvmArgs(options ...string) []string {
	logName, _ := j.release.LogConfig()
	logOption := "-Dlog4j2.configurationFile=" + filepath.Join(j.dir, logName)
	if j.release.Kind == compose.ZooKeeper {
		logOption = "-Dlog4j.configuration=file:" + filepath.Join(j.dir, logName)
	}
	return append([]string{
		// The serial collector has no threads that run beside the broker's on its one CPU, and G1 would choose itself away there
		// without a word: the same collector on every machine.
		"-XX:+UseSerialGC",
		"-XX:+ExitOnOutOfMemoryError",
		// Nothing outside our folder: no counters in the shared folder for temporary files, no unpacked native libraries, no crash reports.
		"-XX:-UsePerfData", "-Djava.io.tmpdir=" + filepath.Join(j.dir, "tmp"), "-XX:ErrorFile=" + filepath.Join(j.dir, "hs_err.log"),
		"-Djava.awt.headless=true", "-Djava.net.preferIPv4Stack=true", "-Dkafka.logs.dir=" + j.dir, logOption,
	}, append(options, "-cp", filepath.Join(j.jars, "*"))...)
}

// newClusterID makes what `kafka-storage random-uuid` makes, without its JVM start. Kafka refuses ids that begin with a dash.
func newClusterID() string {
	for {
		var id [16]byte
		_, _ = rand.Read(id[:]) // it can't fail (Go 1.24)
		if text := base64.RawURLEncoding.EncodeToString(id[:]); text[0] != '-' {
			return text
		}
	}
}

// format prepares a KRaft broker's empty data folder: a new cluster each time, so that identity tells two brokers apart.
func (j *jvm) format(ctx context.Context) error {
	args := append(j.jvmArgs("-Xmx128m", "-XX:TieredStopAtLevel=1"), "kafka.tools.StorageTool", "format", "-t", newClusterID(), "-c", filepath.Join(j.dir, "server.properties"))
	p, err := j.start("the formatting of the broker's folder", args)
	if err != nil {
		return err
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		p.kill()
		return j.late(ctx, p)
	}
	if p.err != nil {
		return p.failure()
	}
	return nil
}

func (j *jvm) startZooKeeper(ctx context.Context) error {
	p, err := j.start("ZooKeeper for Kafka "+j.release.Number, append(j.jvmArgs("-Xmx256m"),
		"org.apache.zookeeper.server.quorum.QuorumPeerMain", filepath.Join(j.dir, "zookeeper.properties")))
	if err != nil {
		return err
	}
	j.processes = append(j.processes, p)
	bound := p.log.expect("binding to port")
	if err := j.await(ctx, p, bound); err != nil {
		return err
	}
	// "binding" comes before the bind: a connection tells.
	address := fmt.Sprintf("127.0.0.1:%d", j.ports.ZooKeeperPort)
	return j.until(ctx, p, func(ctx context.Context) error {
		conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp4", address)
		if err == nil {
			err = conn.Close()
		}
		return err
	})
}

func (j *jvm) startBroker(ctx context.Context) error {
	agents, err := filepath.Glob(filepath.Join(j.jars, "jolokia-agent-jvm-*-javaagent.jar"))
	if err != nil || len(agents) != 1 {
		return fmt.Errorf("%d Jolokia agents in %s, want one: delete the folder, and it will be fetched again", len(agents), j.jars)
	}
	args := append(j.jvmArgs("-Xms512m", "-Xmx1g", fmt.Sprintf("-javaagent:%s=port=%d,host=127.0.0.1", agents[0], j.ports.JolokiaPort)),
		"kafka.Kafka", filepath.Join(j.dir, "server.properties"))
	p, err := j.start("Kafka "+j.release.Number, args)
	if err != nil {
		return err
	}
	j.processes = append(j.processes, p)
	// KRaft: "Kafka Server started"; with ZooKeeper: "[KafkaServer id=1] started".
	ready := p.log.expect("Kafka Server started")
	if j.release.Kind == compose.ZooKeeper {
		ready = p.log.expect("started (kafka.server.KafkaServer)")
	}
	if err := j.await(ctx, p, ready); err != nil {
		return err
	}
	return j.until(ctx, p, j.answers)
}

// answers asks both ways in: the agent has to be in our process, and the broker has to answer ApiVersions and list itself as alive. A log
// line alone would do for neither.
func (j *jvm) answers(ctx context.Context) error {
	client := jolokia.New(j.JolokiaURL(), 5*time.Second)
	if err := client.Ping(ctx); err != nil {
		return err
	}
	pid := client.Counters(ctx, []jolokia.Attribute{{MBean: "java.lang:type=Runtime", Name: "Pid"}})[0]
	if pid.Value != int64(j.PID()) {
		return fmt.Errorf("%w: Jolokia at %s is in process %d (%s%s), the broker is %d", errPortTaken, j.JolokiaURL(), pid.Value, pid.State, pid.Why, j.PID())
	}
	a, err := admin.New(ctx, j.Addresses())
	if err != nil {
		return err
	}
	defer a.Close()
	_, err = a.ClusterID(ctx)
	return err
}

// await waits for a line of the log. A process that ends, or that finds its port taken, is noticed at once.
func (j *jvm) await(ctx context.Context, p *process, line <-chan struct{}) error {
	select {
	case <-line:
		return nil
	case <-p.log.expect("BindException"): // the exception's name: its text is in the user's language
		return j.taken(p)
	case <-p.done:
		if p.log.contains("BindException") {
			return j.taken(p)
		}
		return p.failure()
	case <-ctx.Done():
		return j.late(ctx, p)
	}
}

func (j *jvm) taken(p *process) error {
	return fmt.Errorf("%w: %s could not listen; its last lines:\n%s", errPortTaken, p.name, p.log.text(25))
}

// until repeats a question that a starting process can't answer yet.
func (j *jvm) until(ctx context.Context, p *process, question func(context.Context) error) error {
	for {
		err := question(ctx)
		if err == nil || errors.Is(err, errPortTaken) {
			return err
		}
		if p.log.contains("BindException") {
			return j.taken(p)
		}
		select {
		case <-p.done:
			return p.failure()
		case <-ctx.Done():
			return errors.Join(j.late(ctx, p), err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (j *jvm) late(ctx context.Context, p *process) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("%s was not ready after %s; its last lines:\n%s", p.name, readyDeadline, p.log.text(25))
	}
	return fmt.Errorf("%s: %w", p.name, ctx.Err())
}
