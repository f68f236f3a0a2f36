package worker

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestLines(t *testing.T) {
	in := strings.Repeat("x", 20_000) + "\n\nshort\r\n" + strings.Repeat("y", 31) + "\n" + strings.Repeat("z", 32) + "\ncut off"
	reader := newLineReader(strings.NewReader(in), 32)
	var got []string
	var line []byte
	for {
		var err error
		line, err = reader.next(line)
		if errors.Is(err, io.EOF) {
			break
		}
		got = append(got, fmt.Sprintf("%.5s %d %v", line, len(line), err))
	}
	want := []string{
		"xxxxx 32 line too long", " 0 <nil>", "short 6 <nil>", "yyyyy 31 <nil>",
		"zzzzz 32 line too long", // with its end it is 33
	}
	if !slices.Equal(got, want) {
		t.Errorf("read %q, want %q", got, want)
	}
}

// FuzzLines: what is read is what splitting at line ends gives, in any buffer reuse, with long lines told apart.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nbb\n\nccc"), 2)
	f.Add(bytes.Repeat([]byte("0123456789"), 5000), 40_000)
	f.Fuzz(func(t *testing.T, in []byte, limit int) {
		limit = max(1, min(limit, 1<<17))
		reader := newLineReader(bytes.NewReader(in), limit)
		whole := bytes.Split(in, []byte("\n"))
		var line []byte
		for _, want := range whole[:len(whole)-1] {
			var err error
			line, err = reader.next(line)
			if long := len(want)+1 > limit; long != errors.Is(err, errLongLine) {
				t.Fatalf("a line of %d bytes with limit %d gives %v", len(want), limit, err)
			} else if !long && !bytes.Equal(line, want) || !bytes.HasPrefix(append(want, '\n'), line) {
				t.Fatalf("read %q, want %q", line, want)
			}
		}
		if _, err := reader.next(line); !errors.Is(err, io.EOF) {
			t.Fatalf("after the last line: %v", err)
		}
	})
}

func TestTheTailKeepsTheLastLines(t *testing.T) {
	var log logTail
	var in strings.Builder
	for i := range keptLines + 50 {
		fmt.Fprintf(&in, "line %d\n", i)
	}
	in.WriteString(strings.Repeat("w", 2*maxLineBytes) + "\nhalf a line")
	log.fill(strings.NewReader(in.String()))
	got := log.last(3)
	if len(got) != 3 || got[0] != fmt.Sprintf("line %d", keptLines+49) || len(got[1]) != maxLineBytes || got[2] != "half a line" {
		t.Errorf("tail %.40q", got)
	}
	if all := log.last(10_000); len(all) != keptLines || all[0] != "line 52" {
		t.Errorf("%d lines are kept, the first is %q", len(all), all[0])
	}
	if log.last(-1) == nil && len(log.last(0)) != 0 {
		t.Error("no lines asked, some given")
	}
}

func TestAnEndIsExplainedByItsPanic(t *testing.T) {
	var log logTail
	log.add("before")
	log.add("panic: boom")
	for i := range 50 {
		log.add(fmt.Sprintf("frame %d", i))
	}
	if got := log.quote(3); !slices.Equal(got, []string{"panic: boom", "frame 0", "frame 1"}) {
		t.Errorf("quoted %q", got)
	}
}

func TestNearestRank(t *testing.T) {
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(i + 1)
	}
	for _, c := range []struct {
		of      []time.Duration
		percent int
		want    time.Duration
	}{
		{hundred, 50, 50}, {hundred, 99, 99}, {hundred[:1], 50, 1}, {hundred[:1], 99, 1}, {hundred[:3], 50, 2}, {hundred[:85], 99, 85}, {hundred[:2], 50, 1},
	} {
		if got := nearestRank(c.of, c.percent); got != c.want {
			t.Errorf("%d %% of %d values: %d, want %d", c.percent, len(c.of), got, c.want)
		}
	}
}
