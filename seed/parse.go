package seed

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// Parse reads a seed as a user writes it: decimal, nothing else, because a second spelling of a number is a second name
// for the same run.
func Parse(text string) (uint64, error) {
	value, err := strconv.ParseUint(text, 10, 64)
	switch {
	case err == nil:
		return value, nil
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("seed %q is too large: give a decimal number from 0 to 18446744073709551615", text)
	default:
		return 0, fmt.Errorf("seed %q is not a number: give a decimal number from 0 to 18446744073709551615, e.g. 7", text)
	}
}

// Draw makes a seed where the user gave none. It has 32 bits: enough that two runs don't meet, short enough to be read
// out, and exact in JSON readers that keep numbers as float64. A reader that fails (crypto/rand's never does) leaves no
// honest seed to run with, so it panics.
func Draw(entropy io.Reader) uint64 {
	var b [4]byte
	if _, err := io.ReadFull(entropy, b[:]); err != nil {
		panic(fmt.Sprintf("seed: no entropy to draw a seed from: %v", err))
	}
	return uint64(binary.LittleEndian.Uint32(b[:]))
}
