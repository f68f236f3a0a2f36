package record

import (
	"bytes"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"protocolbench/internal/driver"
	"protocolbench/internal/measure"
	"protocolbench/internal/shape"
)

var update = flag.Bool("update", false, "write testdata/schema4.jsonl anew; only while schema 4 is in no release")

const (
	goldenPath = "testdata/schema4.jsonl"
	schema3    = "testdata/schema3.jsonl"
	schema1    = "testdata/schema1.jsonl"
	schema2    = "testdata/schema2.jsonl"
)

var goldenWhere = Where{Family: "tier1/fetch/size=64KiB/bare", Draw: 1, Fork: 2}

// goldenRows has one row of every kind with no field at its zero value, so that a renamed, retyped or dropped field changes the file.
func goldenRows() []any {
	number := measure.Counter{State: measure.Number, Value: 7, Why: "read"}
	return []any{
		Header{Schema: Schema, Tool: "0123abc", Command: []string{"protocolbench", "run"}, Replay: "protocolbench run --seed 7", Seed: 1<<63 + 7, Profile: "quick",
			Tiers: []int{1, 2}, Started: time.Date(2026, 11, 30, 22, 20, 1, 5, time.UTC), BaseTimestampMs: 1796077201000,
			Client: driver.Hello{Protocol: 1, Client: "franz-go", Version: "v1.22.3", Build: map[string]string{"go": "go1.26"}, Clock: "process-cputime", PID: 4242,
				Implemented: []driver.Range{{API: "Fetch", Key: 1, Min: 4, Max: 18}}, Messages: []driver.Range{{API: "Metadata", Key: 3, Min: 1, Max: 13}}, Abilities: []string{"live", "frames"}},
			Machine: Machine{OS: "linux", Arch: "amd64", Kernel: "6.1", CPUModel: "a CPU", CPUs: 2, MemoryBytes: 1 << 32, GoVersion: "go1.26",
				WorkerCPUs: []int{1}, BrokerCPUs: []int{2}, Missing: []string{"perf_event"}, Siblings: []int{1, 2}},
			Budget: Budget{Draws: 1, Forks: 4, Squares: 0.5, BatchTargetNs: 10_000_000, Looks: 2, LimitNs: 1_800_000_000_000}, Margin: 0.1, ClientBuild: goldenBuild("franz-go=checkout"),
			Baseline: &driver.Hello{Protocol: 1, Client: "franz-go", Version: "v1.19.0", Build: map[string]string{"go": "go1.26"}, Clock: "process-cputime", PID: 4343,
				Implemented: []driver.Range{{API: "Fetch", Key: 1, Min: 4, Max: 17}}, Messages: []driver.Range{{API: "Metadata", Key: 3, Min: 1, Max: 12}}, Abilities: []string{"live", "frames"}}, BaselineBuild: goldenBuild("franz-go@v1.19.0"),
			SharedHost: true, Plants: []string{"tier1/fetch@4=3%"}, Controls: []string{ControlMissingRecord}, AnyBroker: true,
			NotCovered: []Unmeasured{{Name: "tier1/fetch/size", Profile: "standard", Sizes: []string{"4KiB"}, Families: 1}}},
		Broker{Tier: 1, Provider: "jvm", Release: "4.4.0", Commit: "c0ffee", ClusterID: "cluster", Addresses: []string{"127.0.0.1:1"}, JolokiaURL: "http://127.0.0.1:2/jolokia",
			PID: 4343, StartTimeMs: 1796077200000, ReadyNs: 2_500_000_000, Java: "17.0.1", VersionTags: true, FetchConverts: true, Asked: "4.4.0",
			TopicSettings: map[string]string{"compression.type": "producer"}, Quotas: []string{"consumer_byte_rate=1 of {user=a}"}, Untold: []string{"as planned"},
			Nodes: []Node{{ID: 2, Release: "4.4.0", Commit: "c0ffee", StartTimeMs: 1796077200000, JolokiaURL: "http://127.0.0.1:2/jolokia"}}},
		Plan{Tier: 1, API: "Fetch", Key: 1, Implemented: [2]int{4, 18}, Advertised: [2]int{4, 18}, Pinned: []int{4}, Negotiated: 18, BaselineImplemented: &[2]int{4, 17},
			Answers: []PlanAnswer{{Version: 4, Advertised: true, Accepted: true, Pinned: true, Why: "asked for", Reason: LeftNotAsked, Took: TookAnswered}},
			Tries:   []Try{{Version: 4, Build: BuildBaseline, Outcome: TryRefused, AnswerVersion: 18, Sent: map[int]int64{18: 1}, Arrived: map[int]int64{18: 1}, Foreign: true, Error: "as planned", Earlier: []string{"as planned"}, Log: []string{"panic"}}}},
		Scope{Tier: 1, Families: []ScopeFamily{{Name: goldenWhere.Family, API: "Fetch", Reason: LeftAbility, Why: "as planned"}}},
		Control{Tier: 1, Control: ControlRecompression, Applies: true, Expected: 100, Observed: number, TopicObserved: number, WireObjected: true, BrokerObjected: true, Why: "as planned",
			Open: goldenBroker(number), Close: goldenBroker(number), Batch: goldenBatch(), Cell: goldenCell()},
		Family{Tier: 1, Name: goldenWhere.Family, API: "Fetch", Key: 1, Mode: driver.ModeBare, Message: "response", Group: "metadata", Margin: 0.05, BuildMargin: 0.05, Deciding: true, Reference: 18,
			Shape: shape.Shape{Name: "size=64KiB", RecordsPerBatch: 10, BatchesPerPartition: 58, Partitions: 1, Topics: 1, KeyBytes: 8, ValueBytes: 100, Headers: 1, FetchBytes: 65536, RequiredAcks: -1,
				TopicNameBytes: 31, Compression: shape.CompressionLZ4, Aborted: 2, Answer: shape.AnswerError, ReadBytes: 4096, Transactional: true, Elements: 10, Nested: 2},
			LeftOut: "as planned", Left: []LeftVersions{{Versions: []int{5}, Reason: LeftUnchanged, Why: "as planned"}},
			Cells: []FamilyCell{{Cell: 3, Version: 4, Role: RoleVersion, Build: BuildBaseline, PlantNsPerRequest: 3420}}, Rounds: 9, Blocks: 4, RequestsPerBatch: 46, RecordsPerRequest: 580, PlantNsPerRequest: 22800, FewestRequests: 46},
		Look{Tier: 1, Family: goldenWhere.Family, Versions: []int{4}, Cells: []int{3}, Blocks: 24, Rounds: 27, ExpectedNs: 90_000_000_000, Taken: true, Why: "as planned"},
		Block{Where: goldenWhere, WorkerPID: 4242, BaselinePID: 4343, Layout: 17, BaselineLayout: 42, OpeningOrder: []int{3}, Orders: [][]int{{3}}, ContentSeed: 1<<63 + 1, Topic: "topic", WarmRounds: 10, Warm: true, OpenNs: 900_000_000, Look: 2},
		Evidence{Where: goldenWhere, When: WhenOpen, Worker: goldenSnapshot(), OutsideCPUNs: 5, Baseline: &WorkerEvidence{Worker: goldenSnapshot(), OutsideCPUNs: 7}, Broker: goldenBroker(number), WaitedNs: 3, Unsettled: true},
		*goldenBatch(),
		Evidence{Where: goldenWhere, When: WhenClose, Worker: goldenSnapshot(), OutsideCPUNs: 6, Baseline: &WorkerEvidence{Worker: goldenSnapshot(), OutsideCPUNs: 8}, Broker: goldenBroker(number), WaitedNs: 4, Unsettled: true},
		*goldenCell(),
		Steady{Where: goldenWhere, Cell: 3, Steadied: driver.Steadied{Requests: 46, Records: 26680, Allocs: 900, AllocBytes: 1 << 20, StagedNs: 10_000_000, BufferNs: 6_000_000, EncodeNs: 3_000_000}},
		Host{Where: goldenWhere, WallNs: 3_000_000_000, StealNs: 10_000_000, Load1: 0.5, ParentCPUNs: 30_000_000, BatchWallNs: 2_500_000_000, MemoryStallNs: &goldenStallNs, FrequencyKHz: []int64{2_900_000, 2_800_000}},
		HostRound{Where: goldenWhere, Round: 5, WallNs: 200_000_000, OthersCPUNs: 20_000_000, StealNs: 10_000_000},
		Profile{Tier: 1, Family: goldenWhere.Family, Why: "as planned", Missing: "as planned", Of: ProfileSide{Version: 4, Build: BuildBaseline, File: "profiles/x/v4.pprof", Requests: 46, Records: 26680, CPUNs: 2_000_000_000, Samples: 200},
			Against: ProfileSide{Version: 18, Build: BuildBaseline, File: "profiles/x/v18.pprof", Requests: 46, Records: 26680, CPUNs: 2_000_000_000, Samples: 201}, Difference: "profiles/x/difference.pprof", Text: "profiles/x/difference.txt",
			Top: []ProfileLine{{Function: "kmsg.ReadFrom", Ns: 12.5, AgainstNs: 3.25, Errors: 4.5}}},
		Fault{Where: goldenWhere, Tier: 1, What: FaultWorker, Text: "the worker died", Log: []string{"panic"}, Build: BuildBaseline},
		Trailer{Complete: true, Reason: "as planned", WallNs: 90_000_000_000, Changed: []string{"checkout: pkg/kgo/client.go"}},
	}
}

var goldenIdleNs, goldenStallNs int64 = 9_000, 5_000

var goldenLeader = 2

func goldenBuild(spec string) *Build {
	return &Build{Spec: spec, Version: "v1.22.3", Revision: "c0ffee-dirty", ContentHash: "5eed", GoVersion: "go1.26", Flags: "-trimpath",
		Modules: []Module{{Path: "a module", Version: "v1.22.3", Sum: "h1:sum"}}}
}

func goldenBatch() *Batch {
	row := Batch{Where: goldenWhere, Round: 5, Position: 2, Cell: 3,
		Batched: driver.Batched{CPUNs: 10_488_000, WallNs: 12_000_000, RequestP50Ns: 250_000, RequestP99Ns: 400_000, LongestGapNs: 410_000, Requests: 46, Records: 26680, Bytes: 2_668_000,
			ByteSum: 1 << 40, FirstKey: "k1", LastKey: "k2", Partitions: 92, Errors: 46, WireRequests: 46, WireBytesOut: 4600, WireBytesIn: 3_000_000, MinFrame: 100, MaxFrame: 101, StartOffset: 1, EndOffset: 26681,
			GCCycles: 1, VoluntarySwitches: 46, InvoluntarySwitches: 2, HeapLiveBytes: 1 << 22},
		OutsideCPUNs: 10_700_000, BrokerCPUNs: 9_000_000, ParentCPUNs: 20_000, Primes: true, IdleCPUNs: &goldenIdleNs, ExpectedRecords: 26680, ExpectedBytes: 2_668_000, ExpectedByteSum: 1 << 40, ExpectedFirstKey: "k1", ExpectedLastKey: "k2",
		ExpectedPartitions: 92, ExpectedErrors: 46}
	row.Kind = KindBatch
	return &row
}

func goldenCell() *Cell {
	row := Cell{Where: goldenWhere, Cell: 3, AnswerVersion: 4, RecordsPerRequest: 580, Hash: 1<<63 + 2, HashRecords: 580, ExpectedHash: 1<<63 + 2,
		Stored: &ReadBack{Records: 580, Hash: 1<<63 + 4, ExpectedHash: 1<<63 + 4, Why: "read", Batches: 58, StoredBytes: 9204, Codecs: []string{"lz4"}}}
	row.Kind = KindCell
	return &row
}

func goldenSnapshot() driver.Snapshot {
	return driver.Snapshot{
		Cells: []driver.CellSnapshot{{Cell: 3, Frames: []driver.Frames{{Key: 1, Version: 4, Count: 46, Bytes: 4600}}, BytesIn: 1, BytesOut: 2, Reads: 3, DataSegsIn: 4, DataSegsOut: 5, ConnectionsOpened: 3, ConnectionsOpen: 2}},
		CPUNs: 4, HeapLiveBytes: 1 << 22, PeakRSSBytes: 1 << 25, Goroutines: 30, OpenFiles: 40,
	}
}

func goldenBroker(number measure.Counter) *BrokerEvidence {
	return &BrokerEvidence{
		RequestsByVersion: map[int]measure.Counter{4: number}, RequestsListed: true, Requests: number, ProduceConversions: number, FetchConversions: number,
		TopicProduceConversions: measure.Counter{State: measure.Absent, Value: 1, Why: "no such bean"}, TopicFetchConversions: measure.Counter{State: measure.Unreadable, Value: 1, Why: "401"},
		LogStartOffset: 1, LogEndOffset: 2, OffsetsWhy: "read", ReadBack: &ReadBack{Records: 580, Hash: 1<<63 + 3, ExpectedHash: 1<<63 + 3, Why: "read", Batches: 58, StoredBytes: 9204, Codecs: []string{"lz4"}},
		Release: "4.4.0", Commit: "c0ffee", ClusterID: "cluster", StartTimeMs: 1796077200000, IdentityWhy: "read",
		Leader: &goldenLeader,
	}
}

// A schema's layout never changes: this fails when a field is renamed, retyped, added or dropped. Then the row layout needs a new schema number, a
// golden file of its own, and a reader for the old one.
func TestGoldenRowsEncodeToTheGoldenFile(t *testing.T) {
	var encoded bytes.Buffer
	for _, row := range goldenRows() {
		line, err := encode(row)
		if err != nil {
			t.Fatal(err)
		}
		encoded.Write(line)
	}
	if *update {
		if err := os.WriteFile(goldenPath, encoded.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(goldenPath)
	if err != nil {
		t.Fatal(err)
	}
	got := bytes.SplitAfter(encoded.Bytes(), []byte("\n"))
	for i, line := range bytes.SplitAfter(want, []byte("\n")) {
		if i >= len(got) || !bytes.Equal(got[i], line) {
			t.Fatalf("line %d of %s is not what the types encode to.\nfile:  %s\ntypes: %s\n"+
				"A layout that was released needs a new schema number. Before its release: go test ./internal/record -update", i+1, goldenPath, line, got[min(i, len(got)-1)])
		}
	}
	if len(encoded.Bytes()) != len(want) {
		t.Fatalf("%s has %d bytes, the types encode to %d", goldenPath, len(want), encoded.Len())
	}
}

func TestGoldenFileIsReadToTheGoldenValues(t *testing.T) {
	run, err := Read(goldenPath)
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Warnings) != 0 {
		t.Errorf("warnings: %q", run.Warnings)
	}
	got := rowsOf(run)
	want := goldenRows()
	if len(got) != len(want) {
		t.Fatalf("%d rows read, %d written", len(got), len(want))
	}
	for i := range want {
		value := reflect.New(reflect.TypeOf(want[i])).Elem()
		value.Set(reflect.ValueOf(want[i]))
		value.FieldByName("Kind").SetString(kindOf(value.Type()))
		if !reflect.DeepEqual(got[i], value.Interface()) {
			t.Errorf("row %d:\n got %+v\nwant %+v", i+1, got[i], value.Interface())
		}
	}
}

func TestSchema3IsRead(t *testing.T) {
	run, err := Read(schema3)
	if err != nil {
		t.Fatal(err)
	}
	if run.Header.Schema != 3 || run.Header.Budget.Looks != 2 || len(run.Warnings) != 0 || len(rowsOf(run)) != len(goldenRows())-1 {
		t.Errorf("schema %d, %d rows, warnings %q", run.Header.Schema, len(rowsOf(run)), run.Warnings)
	}
}

func TestSchema2IsRead(t *testing.T) {
	run, err := Read(schema2)
	if err != nil {
		t.Fatal(err)
	}
	if run.Header.Schema != 2 || run.Header.ClientBuild == nil || run.Header.Budget.Looks != 0 || run.Header.Plants != nil || len(run.Warnings) != 0 || len(rowsOf(run)) != len(goldenRows())-4 {
		t.Errorf("schema %d, %d rows, warnings %q", run.Header.Schema, len(rowsOf(run)), run.Warnings)
	}
}

// Every schema has only added to the one before: the older file holds what the newer one holds, without that.
func TestOlderSchemaIsRead(t *testing.T) {
	old, err := Read(schema1)
	if err != nil {
		t.Fatal(err)
	}
	// schema 3 brought three kinds of row, schema 4 one
	if old.Header.Schema != 1 || old.Header.ClientBuild != nil || len(old.Warnings) != 0 || len(rowsOf(old)) != len(goldenRows())-4 {
		t.Errorf("schema %d, %d rows, warnings %q", old.Header.Schema, len(rowsOf(old)), old.Warnings)
	}
	if got := old.Families[0].BlockRuns[0].Batches[0].CPUNs; got != 10_488_000 {
		t.Errorf("CPU of its batch: %d ns", got)
	}
	text, err := os.ReadFile(schema1)
	if err != nil {
		t.Fatal(err)
	}
	later := bytes.Replace(text, []byte(`"warm":true`), []byte(`"warm":true,"layout":7`), 1)
	if _, err := ReadFrom(bytes.NewReader(later)); err == nil || !strings.Contains(err.Error(), "layout is not a field of schema 1") {
		t.Errorf("a field of schema 2 in a record of schema 1: %v", err)
	}
}

func TestGoldenRowsHaveEveryKindAndEveryField(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range goldenRows() {
		kind := kindOf(reflect.TypeOf(row))
		seen[kind] = true
		for _, path := range zeroFields(reflect.ValueOf(row), kind) {
			t.Errorf("%s is zero in the golden rows: its loss would not be seen", path)
		}
	}
	for kind := range rowTypes {
		if !seen[kind] {
			t.Errorf("the golden rows have no %s", kind)
		}
	}
}

func zeroFields(value reflect.Value, path string) []string {
	switch value.Kind() {
	case reflect.Pointer:
		if value.IsNil() {
			return nil // an absent part, or only one end of evidence has it
		}
		return zeroFields(value.Elem(), path)
	case reflect.Slice:
		if value.Len() == 0 {
			return []string{path}
		}
		return zeroFields(value.Index(0), path+"[0]")
	case reflect.Struct:
		if value.Type() == reflect.TypeFor[time.Time]() {
			break
		}
		var zero []string
		for i := range value.NumField() {
			if field := value.Type().Field(i); field.Name != "Kind" {
				zero = append(zero, zeroFields(value.Field(i), path+"."+field.Name)...)
			}
		}
		return zero
	}
	if value.IsZero() {
		return []string{path}
	}
	return nil
}

// rowsOf lays a run out again in the order in which a block is written.
func rowsOf(run *Run) []any {
	rows := []any{run.Header}
	for _, row := range run.Brokers {
		rows = append(rows, row)
	}
	for _, row := range run.Plans {
		rows = append(rows, row)
	}
	for _, row := range run.Scopes {
		rows = append(rows, row)
	}
	for _, row := range run.Controls {
		rows = append(rows, row)
	}
	for _, family := range run.Families {
		rows = append(rows, family.Family)
		for _, block := range family.blocksOf(func(look int) bool { return look < SecondLook }) {
			rows = append(rows, rowsOfBlock(block)...)
		}
		if family.Look != nil {
			rows = append(rows, *family.Look)
		}
		for _, block := range family.blocksOf(func(look int) bool { return look >= SecondLook }) {
			rows = append(rows, rowsOfBlock(block)...)
		}
		for _, row := range family.Profiles {
			rows = append(rows, row)
		}
	}
	for _, row := range run.Faults {
		rows = append(rows, row)
	}
	if run.Trailer != nil {
		rows = append(rows, *run.Trailer)
	}
	return rows
}

func rowsOfBlock(block BlockRun) []any {
	rows := []any{block.Block}
	if block.Open != nil {
		rows = append(rows, *block.Open)
	}
	for _, row := range block.Batches {
		rows = append(rows, row)
	}
	if block.Close != nil {
		rows = append(rows, *block.Close)
	}
	for _, row := range block.CellRows {
		rows = append(rows, row)
	}
	for _, row := range block.Steadies {
		rows = append(rows, row)
	}
	if block.Host != nil {
		rows = append(rows, *block.Host)
	}
	for _, row := range block.Rounds {
		rows = append(rows, row)
	}
	return rows
}
