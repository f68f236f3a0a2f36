package record

import (
	"strings"
	"testing"
)

// BenchmarkReadBatches reads what a standard run has most of. A whole standard record has some 40,000 batches.
func BenchmarkReadBatches(b *testing.B) {
	lines := goldenLines(b)
	var head, batch []string
	for _, line := range lines {
		switch {
		case strings.HasPrefix(line, `{"kind":"header"`), strings.HasPrefix(line, `{"kind":"family"`), strings.HasPrefix(line, `{"kind":"block"`):
			head = append(head, line)
		case strings.HasPrefix(line, `{"kind":"batch"`):
			batch = append(batch, line)
		}
	}
	const batches = 1000
	file := strings.Join(head, "\n") + "\n" + strings.Repeat(batch[0]+"\n", batches)
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		if _, err := ReadFrom(strings.NewReader(file)); err != nil {
			b.Fatal(err)
		}
	}
}
