// Package seed is the only source of randomness of a run: the user's number, and what is drawn from it.
//
// Everything random in a run is a function of the seed and a name, so that two streams never share state and
// adding a consumer never moves another one's draws.
package seed

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"strconv"
)

// Stream gives the named substream of a seed. The same pair always gives the same numbers.
func Stream(seed uint64, name string) *rand.Rand {
	sum := digest(seed, name)
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:16])))
}

// Derive gives one 64-bit number for a seed and a name: what is handed to a worker, which knows no seeds.
func Derive(seed uint64, name string) uint64 {
	sum := digest(seed, name)
	return binary.LittleEndian.Uint64(sum[16:24])
}

func digest(seed uint64, name string) [32]byte {
	return sha256.Sum256([]byte("protocolbench/1/" + strconv.FormatUint(seed, 10) + "/" + name))
}

// SplitMix64 is a counter-based generator of four lines (Steele, Lea, Flood 2014): a worker in any language can
// make the same record contents from one number.
type SplitMix64 uint64

// Next advances the generator and returns its next 64 bits.
func (s *SplitMix64) Next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}
