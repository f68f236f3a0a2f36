//go:build linux

package wire

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// noSegments: no TCP socket, or none any more.
const noSegments = -1

// readSegments asks the kernel for the segments with data that this socket has received and sent (TCP_INFO). They show what
// neither bytes nor reads do: into how many pieces the broker cut a response.
func readSegments(c net.Conn) (in, out int64) {
	if tls, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = tls.NetConn()
	}
	socket, ok := c.(syscall.Conn)
	if !ok {
		return noSegments, noSegments
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return noSegments, noSegments
	}
	var info *unix.TCPInfo
	var failed error
	err = raw.Control(func(fd uintptr) {
		info, failed = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
	})
	if err != nil || failed != nil {
		return noSegments, noSegments
	}
	return int64(info.Data_segs_in), int64(info.Data_segs_out)
}
