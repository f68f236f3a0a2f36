package messages

import (
	"fmt"
	"hash/fnv"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"protocolbench/internal/shape"
)

func find(t *testing.T, name string) Message {
	t.Helper()
	i := slices.IndexFunc(All(), func(m Message) bool { return m.Name() == name })
	if i < 0 {
		t.Fatalf("there is no %s", name)
	}
	return All()[i]
}

// Every message at every version and size is read again as it was written, and carries more the more elements it has, by as much for each.
func TestAllRoundTrips(t *testing.T) {
	seen := 0
	for _, m := range All() {
		for version := range m.Newest + 1 {
			lengths := map[string]int{}
			for _, s := range m.Shapes() {
				if err := s.Validate(); err != nil {
					t.Fatal(err)
				}
				body, err := m.Bytes(version, s, 7)
				if err != nil {
					t.Errorf("%s: %v", s.Name, err)
				}
				lengths[s.Name] = len(body)
				seen++
			}
			// Lengths have one byte more or less, here and there.
			if one, ten := lengths["elements=1"], lengths["elements=10"]; ten > 0 {
				each := float64(ten-one) / 9
				if got, want := float64(lengths["elements=100"]), float64(one)+99*each; got < want*0.98-32 || got > want*1.02+32 {
					t.Errorf("%s v%d: 1, 10, 100 elements take %d, %d, %.0f bytes", m.Name(), version, one, ten, got)
				}
			}
		}
	}
	if seen < 2000 {
		t.Errorf("%d messages: most are missing", seen)
	}
}

// Nothing is left empty: a field that the generator forgets would cost nothing at every version.
func TestEveryFieldIsFilled(t *testing.T) {
	for _, m := range All() {
		made := m.blank(m.Newest)
		f := filler{contentSeed: 7, elements: []int{2, 2}}
		f.fields(reflect.ValueOf(made).Elem(), m.Name(), 0)
		for _, path := range empty(reflect.ValueOf(made).Elem(), m.Name()) {
			t.Errorf("%s is empty", path)
		}
	}
	var bare kmsg.MetadataResponse
	if len(empty(reflect.ValueOf(bare), "bare")) < 3 {
		t.Error("an empty message shows no empty fields")
	}
}

func empty(v reflect.Value, path string) (paths []string) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.Type != tagsType && f.Name != "Version" {
				paths = append(paths, empty(v.Field(i), path+"."+f.Name)...)
			}
		}
	case reflect.Pointer:
		if v.IsNil() {
			return []string{path}
		}
		return empty(v.Elem(), path)
	case reflect.Slice:
		if v.Len() == 0 {
			return []string{path}
		}
		return empty(v.Index(0), path+"[0]")
	case reflect.String:
		if v.Len() == 0 {
			return []string{path}
		}
	case reflect.Int64, reflect.Float64:
		if v.IsZero() {
			return []string{path}
		}
	}
	return paths
}

// Golden: what --seed replays. A change is a change of what past records mean, unless it came with a kmsg that added a field.
func TestGolden(t *testing.T) {
	for _, g := range []struct {
		name    string
		version int
		seed    uint64
		length  int
		hash    string
	}{
		{"MetadataResponse", 0, 7, 1188, "75b4167b88bc9d16"},
		{"MetadataResponse", 12, 7, 1718, "6b5282185109b516"},
		{"MetadataResponse", 12, 8, 1718, "9b792d80da61b9be"},
		{"JoinGroupRequest", 9, 7, 605, "958d20332f4528e2"},
		{"AddPartitionsToTxnRequest", 5, 7, 842, "65aca691477da751"},
	} {
		m := find(t, g.name)
		s := shape.Shape{Name: "elements=10", Elements: 10, Nested: 2}
		for range 2 { // the same each time
			body, err := m.Bytes(g.version, s, g.seed)
			if err != nil {
				t.Fatal(err)
			}
			h := fnv.New64a()
			h.Write(body)
			hash := fmt.Sprintf("%016x", h.Sum64())
			if e := m.Expect(body, g.version, s); len(body) != g.length || hash != g.hash || e.LastKey != hash || e.Bytes != int64(len(body)) || e.FirstKey != fmt.Sprintf("%s v%d", g.name, g.version) {
				t.Errorf("%s v%d of seed %d: %d bytes, hash %s; golden %d, %s; expectation %+v", g.name, g.version, g.seed, len(body), hash, g.length, g.hash, e)
			}
		}
	}
}

// A field's value depends on its own path: an earlier version carries the same values.
func TestVersionsCarryTheSameValues(t *testing.T) {
	m := find(t, "MetadataResponse")
	s := shape.Shape{Name: "elements=10", Elements: 10, Nested: 2}
	var names []string
	for version := range m.Newest + 1 {
		body, err := m.Bytes(version, s, 7)
		if err != nil {
			t.Fatal(err)
		}
		read := kmsg.NewPtrMetadataResponse()
		read.SetVersion(int16(version))
		if err := read.ReadFrom(body); err != nil {
			t.Fatal(err)
		}
		names = append(names, *read.Topics[9].Topic+read.Brokers[3].Host)
		if len(read.Topics) != 10 || len(read.Topics[0].Partitions) != 2 || len(read.Topics[0].Partitions[1].Replicas) != deeperElements {
			t.Errorf("v%d: %d topics of %d partitions of %d replicas", version, len(read.Topics), len(read.Topics[0].Partitions), len(read.Topics[0].Partitions[1].Replicas))
		}
	}
	if len(slices.Compact(names)) != 1 {
		t.Errorf("values differ between versions: %q", names)
	}
}

func TestGroupsAndWhatIsLeftOut(t *testing.T) {
	var order []string
	count := map[string]int{}
	for _, m := range All() {
		if count[m.Group] == 0 {
			order = append(order, m.Group)
		}
		count[m.Group]++
	}
	if got := strings.Join(order, " "); got != "group transaction metadata framing other" {
		t.Errorf("groups come as %s", got)
	}
	for group, keys := range groupsOf {
		want := 2 * len(keys)
		if group == Framing {
			want -= len(measuredWithRecords) // a fetch response is read with its records
		}
		if count[group] != want {
			t.Errorf("%s has %d messages of %d APIs, want %d", group, count[group], len(keys), want)
		}
	}
	for _, name := range measuredWithRecords {
		if slices.ContainsFunc(All(), func(m Message) bool { return m.Name() == name }) {
			t.Errorf("%s is measured with its records", name)
		}
	}
	if m := find(t, "HeartbeatRequest"); len(m.Shapes()) != 1 || m.Depth != 0 {
		t.Errorf("a heartbeat has no arrays: %+v", m)
	}
	if m := find(t, "MetadataResponse"); len(m.Shapes()) != 5 || m.Depth != 3 {
		t.Errorf("metadata has topics, partitions, replicas: %+v", m)
	}
	if _, err := find(t, "MetadataRequest").Bytes(99, shape.Shape{Elements: 1}, 7); err == nil || !strings.Contains(err.Error(), "v0 to v13") {
		t.Errorf("v99: %v", err)
	}
}
