package franz

import (
	"encoding/binary"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// request is one parsed request frame.
type request struct {
	key, version int16
	correlation  int32
	message      kmsg.Request
}

func readRequest(frame []byte) (request, error) {
	if len(frame) < 14 {
		return request{}, fmt.Errorf("a request of %d bytes has no whole header", len(frame))
	}
	r := request{
		key:         int16(binary.BigEndian.Uint16(frame[4:])),
		version:     int16(binary.BigEndian.Uint16(frame[6:])),
		correlation: int32(binary.BigEndian.Uint32(frame[8:])),
	}
	r.message = kmsg.RequestForKey(r.key)
	if r.message == nil {
		return request{}, fmt.Errorf("a request with the unknown API key %d", r.key)
	}
	r.message.SetVersion(r.version)
	body := frame[14:]
	if client := int(int16(binary.BigEndian.Uint16(frame[12:]))); client > 0 {
		if client > len(body) {
			return request{}, fmt.Errorf("a request whose client id is cut off")
		}
		body = body[client:]
	}
	if r.message.IsFlexible() {
		if len(body) == 0 || body[0] != 0 {
			return request{}, fmt.Errorf("%s v%d has tagged fields in its header, which nothing here expects", kmsg.NameForKey(r.key), r.version)
		}
		body = body[1:]
	}
	if err := r.message.ReadFrom(body); err != nil {
		return request{}, fmt.Errorf("reading %s v%d: %w", kmsg.NameForKey(r.key), r.version, err)
	}
	return r, nil
}

// appendAnswer writes length, correlation id, the tag section that flexible responses have (but never ApiVersions), and the body.
func appendAnswer(dst []byte, correlation int32, resp kmsg.Response) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = binary.BigEndian.AppendUint32(dst, uint32(correlation))
	if resp.IsFlexible() && resp.Key() != keyAPIVersions {
		dst = append(dst, 0)
	}
	dst = resp.AppendTo(dst)
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	return dst
}
