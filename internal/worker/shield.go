//go:build unix

package worker

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

const (
	standardOutput = 1
	standardError  = 2
)

// shield keeps whatever a client library prints off the protocol. Where out is the process's standard output, the protocol moves to a
// descriptor of its own and descriptor 1 becomes the log. Setting os.Stdout was rejected: it does not reach C libraries
// or children. giveBack undoes it.
func shield(out io.Writer) (protocol io.Writer, giveBack func(), err error) {
	file, ok := out.(*os.File)
	if !ok || file.Fd() != standardOutput {
		return out, func() {}, nil
	}
	own, err := unix.FcntlInt(standardOutput, unix.F_DUPFD_CLOEXEC, standardError+1)
	if err != nil {
		return nil, nil, err
	}
	if err := replaceDescriptor(standardError, standardOutput); err != nil {
		unix.Close(own)
		return nil, nil, err
	}
	moved := os.NewFile(uintptr(own), file.Name())
	return moved, func() {
		replaceDescriptor(own, standardOutput)
		moved.Close()
	}, nil
}
