//go:build !linux

package measure

// StayOn does nothing here: this platform has no CPU affinity.
func StayOn([]int) (undo func(), err error) { return func() {}, nil }
