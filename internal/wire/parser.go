package wire

import "encoding/binary"

const (
	lengthBytes = 4
	// headerBytes is as much of a request as has to be seen: length, API key, API version.
	headerBytes = lengthBytes + 4
)

// Garbage is the API key and version under which a stream is counted that is no Kafka request: a length too small to hold
// a key and a version. Everything after it on that connection is garbage too, since frames can't be found again.
const Garbage = -1

// parser finds the frames in a stream of writes. franz-go writes one whole frame at a time, which is the first test in feed;
// other clients split frames or join them, and a counter that is right only for the client it was written with proves nothing
// about the next one.
type parser struct {
	header [headerBytes]byte
	have   int // bytes of header collected
	left   int // bytes of the frame still to come after its header
	lost   bool
}

// feed takes the next bytes of the stream.
func (p *parser) feed(b []byte, to *conn) {
	if p.have == 0 && len(b) >= headerBytes && !p.lost {
		if length := int(int32(binary.BigEndian.Uint32(b))) + lengthBytes; length == len(b) {
			to.count(int16(binary.BigEndian.Uint16(b[4:])), int16(binary.BigEndian.Uint16(b[6:])), length)
			return
		}
	}
	p.feedPieces(b, to)
}

func (p *parser) feedPieces(b []byte, to *conn) {
	for len(b) > 0 && !p.lost {
		if p.have < headerBytes {
			n := copy(p.header[p.have:], b)
			p.have += n
			b = b[n:]
			if p.have < headerBytes {
				return
			}
			p.left = p.length() - headerBytes
			if p.left < 0 {
				p.lost = true
				to.count(Garbage, Garbage, headerBytes)
				return
			}
		}
		n := min(p.left, len(b))
		p.left -= n
		b = b[n:]
		if p.left == 0 {
			to.count(int16(binary.BigEndian.Uint16(p.header[4:])), int16(binary.BigEndian.Uint16(p.header[6:])), p.length())
			p.have = 0
		}
	}
}

// length of the whole frame in header, with its length field.
func (p *parser) length() int { return int(int32(binary.BigEndian.Uint32(p.header[:]))) + lengthBytes }
