package worker

import (
	"bufio"
	"errors"
	"io"
)

// errLongLine says that a line passed the limit; it has been skipped, and what was kept of it comes with the error.
var errLongLine = errors.New("line too long")

// lineReader reads lines with a limit, so that a peer that writes without an end of line cannot take all memory.
type lineReader struct {
	reader *bufio.Reader
	limit  int
}

func newLineReader(in io.Reader, limit int) *lineReader {
	return &lineReader{reader: bufio.NewReaderSize(in, 16<<10), limit: limit}
}

// next appends the next line, without its end, to buffer. A last line that was not ended is dropped: its writer died in the middle of it.
func (l *lineReader) next(buffer []byte) ([]byte, error) {
	line, long := buffer[:0], false
	for {
		part, err := l.reader.ReadSlice('\n')
		if room := l.limit - len(line); len(part) > room {
			long = true
			part = part[:max(room, 0)]
		}
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return line, err
		case long:
			return line, errLongLine
		}
		return line[:len(line)-1], nil
	}
}

// waiting tells whether a line, or a part of one, has come already.
func (l *lineReader) waiting() bool { return l.reader.Buffered() > 0 }
