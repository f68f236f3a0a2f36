package bank

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"protocolbench/internal/shape"
)

// compressions by the number that a batch's attributes give them.
var compressions = []string{shape.CompressionNone, shape.CompressionGzip, shape.CompressionSnappy, shape.CompressionLZ4, shape.CompressionZstd}

// CompressionNumber is what a batch's attributes have for a shape's compression.
func CompressionNumber(name string) int { return max(0, slices.Index(compressions, name)) }

// CompressionName is a shape's name of what a batch's attributes have.
func CompressionName(number int) string {
	if number < 0 || number >= len(compressions) {
		return fmt.Sprintf("unknown (%d)", number)
	}
	return compressions[number]
}

// Versions from which on a batch may be compressed by zstd (KIP-110).
const (
	ZstdFetch   = 10
	ZstdProduce = 7
)

// xerial is how Kafka's own producer frames snappy: a head, then blocks of 32 KiB with their compressed lengths before them.
var xerial = []byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0, 0, 0, 0, 1, 0, 0, 0, 1}

const xerialBlock = 32 << 10

// Compressor gives what compresses the records of a shape's batches, nil where nothing does.
func Compressor(name string) func([]byte) []byte {
	switch name {
	case shape.CompressionGzip:
		return func(src []byte) []byte {
			return through(src, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
		}
	case shape.CompressionSnappy:
		return snappy
	case shape.CompressionLZ4:
		return func(src []byte) []byte { return through(src, lz4Frame) }
	case shape.CompressionZstd:
		return func(src []byte) []byte {
			w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
			if err != nil {
				panic(err) // the options are constants
			}
			defer w.Close()
			return w.EncodeAll(src, nil)
		}
	}
	return nil
}

func through(src []byte, open func(io.Writer) io.WriteCloser) []byte {
	var out bytes.Buffer
	w := open(&out)
	_, err := w.Write(src)
	if err = errors.Join(err, w.Close()); err != nil {
		panic(err) // a bytes.Buffer takes everything
	}
	return out.Bytes()
}

// lz4Frame has the frames of Kafka's own producer: independent blocks of 64 KiB, without checksums.
func lz4Frame(to io.Writer) io.WriteCloser {
	w := lz4.NewWriter(to)
	if err := w.Apply(lz4.BlockSizeOption(lz4.Block64Kb), lz4.ChecksumOption(false), lz4.ConcurrencyOption(1)); err != nil {
		panic(err) // the options are constants
	}
	return w
}

func snappy(src []byte) []byte {
	dst := slices.Clone(xerial)
	for block := range slices.Chunk(src, xerialBlock) {
		compressed := s2.EncodeSnappy(nil, block)
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(compressed)))
		dst = append(dst, compressed...)
	}
	return dst
}

// Decompress undoes the compression with that number in a batch's attributes, in whatever framing producers use.
func Decompress(number int, src []byte) ([]byte, error) {
	if number < 0 || number >= len(compressions) {
		return nil, fmt.Errorf("no compression has the number %d", number)
	}
	var out []byte
	var err error
	switch compressions[number] {
	case shape.CompressionNone:
		return src, nil
	case shape.CompressionGzip:
		var r *gzip.Reader
		if r, err = gzip.NewReader(bytes.NewReader(src)); err == nil {
			out, err = io.ReadAll(r)
		}
	case shape.CompressionSnappy:
		out, err = unsnappy(src)
	case shape.CompressionLZ4:
		out, err = io.ReadAll(lz4.NewReader(bytes.NewReader(src)))
	case shape.CompressionZstd:
		var r *zstd.Decoder
		if r, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1)); err == nil {
			defer r.Close()
			out, err = r.DecodeAll(src, nil)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", compressions[number], err)
	}
	return out, nil
}

func unsnappy(src []byte) ([]byte, error) {
	if !bytes.HasPrefix(src, xerial[:8]) {
		return s2.Decode(nil, src) // one block, as librdkafka and franz-go have it
	}
	if len(src) < len(xerial) {
		return nil, io.ErrUnexpectedEOF
	}
	var out []byte
	for src = src[len(xerial):]; len(src) > 0; {
		if len(src) < 4 || int64(binary.BigEndian.Uint32(src)) > int64(len(src)-4) {
			return nil, io.ErrUnexpectedEOF
		}
		length := int(binary.BigEndian.Uint32(src))
		block, err := s2.Decode(nil, src[4:4+length])
		if err != nil {
			return nil, err
		}
		out, src = append(out, block...), src[4+length:]
	}
	return out, nil
}
