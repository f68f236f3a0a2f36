package cli

import (
	"strings"
	"testing"
	"time"
)

func TestProgressLines(t *testing.T) {
	clock := time.Unix(1000, 0)
	var out strings.Builder
	p := newProgress(&out, func() time.Time { return clock })
	p.Expect(100 * time.Second)
	for range 10 {
		p.Step(0, "some block")
		clock = clock.Add(4 * time.Second) // twice as fast as expected: 8 s of the plan in 4 s
		p.Step(8*time.Second, "")
	}
	p.Say("a word")
	p.close()
	want := `expected time: about 1 min 40 s
 24 %, about 38 s left: some block
 48 %, about 26 s left: some block
 72 %, about 14 s left: some block
a word
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestProgressNeverPassesTheWhole(t *testing.T) {
	p := newProgress(&strings.Builder{}, func() time.Time { return time.Unix(0, 0) })
	p.Step(time.Second, "before anything was expected")
	p.Expect(time.Second)
	p.Step(5*time.Second, "")
	if p.share() != 1 || p.left() != 0 {
		t.Errorf("share %v, left %v", p.share(), p.left())
	}
}

func TestMinutes(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0 s", 59 * time.Second: "59 s", 61 * time.Second: "1 min 01 s", 20 * time.Minute: "20 min 00 s"} {
		if got := minutes(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
