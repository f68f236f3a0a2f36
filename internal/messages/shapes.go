package messages

import (
	"fmt"

	"protocolbench/internal/shape"
)

// sizes are those of an axis.
var sizes = []int{1, 10, 100}

// nestedElements is what arrays in arrays have while the outer ones grow.
const nestedElements = 2

// Shapes are the sizes that a message is measured at: its outermost arrays with 1, 10 and 100 elements, and, where arrays stand in them, these with 10 and 100 beside 2, in one outer
// element. Scaling all levels at once was rejected: 100 of 100 of 100 elements are no message that anybody sends, and a cost that grows with the inner arrays alone would hide
// behind the outer ones. A message without arrays has one size.
func (m Message) Shapes() []shape.Shape {
	nested := 0
	if m.Depth > 1 {
		nested = nestedElements
	}
	var list []shape.Shape
	for _, n := range sizes {
		list = append(list, shape.Shape{Name: fmt.Sprintf("elements=%d", n), Elements: n, Nested: nested})
		if m.Depth == 0 {
			return list
		}
	}
	for _, n := range sizes {
		if m.Depth > 1 && n > nestedElements {
			list = append(list, shape.Shape{Name: fmt.Sprintf("nested=%d", n), Elements: 1, Nested: n})
		}
	}
	return list
}
