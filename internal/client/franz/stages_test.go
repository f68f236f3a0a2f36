package franz

import (
	"context"
	"testing"

	"protocolbench/internal/driver"
	"protocolbench/internal/measure"
)

// The stages are parts of the batch, in their order, and cost nothing where nobody asks.
func TestStagesArePartsOfABatch(t *testing.T) {
	opened, _, err := New().Open(context.Background(), opening(0, apiProduce, 13, fixed("records=1000", 1000, 1, 1, 1), driver.ModeBare))
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	cell := opened.(*encodeCell)
	runBatch(t, cell, 3, 0)
	if buffer, encode := cell.Stages(); buffer != 0 || encode != 0 {
		t.Errorf("%d ns of buffering and %d of encoding before anybody asked", buffer, encode)
	}
	cell.Stage(true)
	before := measure.SelfCPUNs()
	runBatch(t, cell, 50, 0)
	all := measure.SelfCPUNs() - before
	cell.Stage(false)
	runBatch(t, cell, 3, 0)
	buffer, encode := cell.Stages()
	if buffer <= 0 || encode <= 0 || buffer+encode > all {
		t.Errorf("%d ns of buffering and %d of encoding in a batch of %d", buffer, encode, all)
	}
	if again, _ := cell.Stages(); again != 0 {
		t.Errorf("%d ns twice", again)
	}
}
