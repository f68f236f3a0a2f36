package shape

// FNV-1a 64: the simplest hash that a worker in any language can have without a library. It guards against mistakes, not
// against an adversary.
const (
	fnvOffset = 0xcbf29ce484222325
	fnvPrime  = 0x100000001b3
)

// Hasher hashes records with everything that a client could lose or mix up: order, time, key, value and headers. Per
// record these bytes go in, every number as 8 bytes little endian:
//
//	index, timestamp delta, key length, key, value length, value, number of headers,
//	then per header: key length, key, value length, value
//
// The lengths keep a byte that moved from the key to the value from hashing the same.
type Hasher struct{ sum uint64 }

// NewHasher starts with FNV's offset basis, which is also the hash of no records.
func NewHasher() *Hasher { return &Hasher{sum: fnvOffset} }

// Add hashes one record as number index.
func (h *Hasher) Add(index int, r *Record) {
	h.number(uint64(index))
	h.number(uint64(r.TimestampDelta))
	h.bytes(r.Key)
	h.bytes(r.Value)
	h.number(uint64(len(r.Headers)))
	for i := range r.Headers {
		h.text(r.Headers[i].Key)
		h.bytes(r.Headers[i].Value)
	}
}

// Sum64 is the hash of all records added so far.
func (h *Hasher) Sum64() uint64 { return h.sum }

// Number hashes a number by itself: what a response without records says has nothing else.
func (h *Hasher) Number(n uint64) { h.number(n) }

func (h *Hasher) number(n uint64) {
	sum := h.sum
	for range 8 {
		sum = (sum ^ n&0xff) * fnvPrime
		n >>= 8
	}
	h.sum = sum
}

func (h *Hasher) bytes(b []byte) {
	h.number(uint64(len(b)))
	sum := h.sum
	for _, c := range b {
		sum = (sum ^ uint64(c)) * fnvPrime
	}
	h.sum = sum
}

func (h *Hasher) text(s string) {
	h.number(uint64(len(s)))
	sum := h.sum
	for i := range len(s) {
		sum = (sum ^ uint64(s[i])) * fnvPrime
	}
	h.sum = sum
}
