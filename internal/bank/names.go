package bank

import (
	"encoding/binary"
	"strconv"
	"strings"

	"protocolbench/internal/shape"
)

const namePrefix = "protocolbench-"

// nameDigits is how many digits of its number a topic's name ends with; shorter names have only digits.
const nameDigits = 6

// TopicName is the name of the t-th topic of a tier 0 shape; all have the same length. One of the usual length is "protocolbench-000012".
func TopicName(s shape.Shape, t int) string {
	length := s.NameBytes()
	digits := strconv.Itoa(t)
	digits = strings.Repeat("0", max(0, nameDigits-len(digits))) + digits
	if length <= nameDigits {
		return digits[len(digits)-length:]
	}
	prefix := length - nameDigits
	return strings.Repeat(namePrefix, prefix/len(namePrefix)+1)[:prefix] + digits[len(digits)-nameDigits:]
}

// TopicID is the id of the t-th topic of a tier 0 shape: a well-formed random UUID (version 4), so that no client takes it for
// the reserved ones.
func TopicID(t int) [16]byte {
	id := [16]byte{0: 'p', 1: 'r', 2: 'o', 3: 't', 4: 'o', 6: 0x40, 8: 0x80}
	binary.BigEndian.PutUint32(id[12:], uint32(t))
	return id
}
