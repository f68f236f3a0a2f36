package measure

import (
	"reflect"
	"testing"
)

const stat = `cpu  100 2 30 4000 5 6 7 80 0 0
cpu0 60 1 20 2000 3 3 4 50 0 0
cpu1 40 1 10 2000 2 3 3 30 0 0
intr 12345
`

func TestCPUsOf(t *testing.T) {
	for _, c := range []struct {
		cpus []int
		want CPUSample
	}{
		{[]int{1}, CPUSample{BusyNs: 51 * tickNs, StealNs: 30 * tickNs, OK: true}},
		{[]int{0, 1}, CPUSample{BusyNs: 132 * tickNs, StealNs: 80 * tickNs, OK: true}},
		{[]int{2}, CPUSample{}},
		{nil, CPUSample{}},
	} {
		if got := cpusOf(stat, c.cpus); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.cpus, got, c.want)
		}
	}
	if got := cpusOf("cpu1 40 x 10 2000 2 3 3 30\n", []int{1}); got.OK {
		t.Errorf("no number was taken for one: %+v", got)
	}
}

func TestPressureAndLists(t *testing.T) {
	if ns, ok := stallOf("some avg10=0.00 avg60=0.12 avg300=0.00 total=12345\nfull avg10=0.00 total=1\n"); ns != 12_345_000 || !ok {
		t.Errorf("%d %v", ns, ok)
	}
	for _, text := range []string{"", "full avg10=0.00 total=1", "some avg10=0.00", "some total=x"} {
		if ns, ok := stallOf(text); ok {
			t.Errorf("%q: %d", text, ns)
		}
	}
	for text, want := range map[string][]int{"0-1,4": {0, 1, 4}, "3": {3}, "x": nil, "": nil} {
		if got := listOf(text); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v", text, got)
		}
	}
}
