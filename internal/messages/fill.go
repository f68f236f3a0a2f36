package messages

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"reflect"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"

	"protocolbench/internal/shape"
	"protocolbench/seed"
)

// Lengths of what has no length of its own. Texts are as long as a short topic's name or a member's id.
const (
	textBytes = 16
	dataBytes = 32
	// deeperElements is what arrays have that stand in arrays that stand in arrays, such as the replicas of partitions of topics.
	deeperElements = 2
	// mostBytes of one message: it travels to the worker in one line.
	mostBytes = 512 << 10
)

var tagsType = reflect.TypeFor[kmsg.Tags]()

// Bytes is the message at a version, every field filled from the seed: numbers over their whole range, texts of hex digits, nothing null, known tagged fields as well (unknown ones
// are left out: no broker sends them to a client that asked for a version that it knows). Fields that the version doesn't have are not in it, since kmsg doesn't write them.
//
// A field's value depends on the seed and the field's own path alone, so that all versions carry the same values, and a field that a later kmsg adds changes no other.
//
// It is an error if kmsg doesn't write what it has read of it: then nothing can be measured on these bytes.
func (m Message) Bytes(version int, s shape.Shape, contentSeed uint64) ([]byte, error) {
	if version < 0 || version > m.Newest {
		return nil, fmt.Errorf("%s v%d: this program can write v0 to v%d", m.Name(), version, m.Newest)
	}
	made := m.blank(version)
	f := filler{contentSeed: contentSeed, elements: []int{s.Elements, s.Nested}}
	f.fields(reflect.ValueOf(made).Elem(), m.Name(), 0)
	body := made.AppendTo(nil)
	if len(body) > mostBytes {
		return nil, fmt.Errorf("%s v%d of shape %s has %d bytes, more than the %d that are handed to a worker in one piece: use fewer elements", m.Name(), version, s.Name, len(body), mostBytes)
	}
	read := m.blank(version)
	if err := read.ReadFrom(bytes.Clone(body)); err != nil {
		return nil, fmt.Errorf("%s v%d: kmsg can't read what it wrote: %w", m.Name(), version, err)
	}
	if again := read.AppendTo(nil); !bytes.Equal(again, body) {
		return nil, fmt.Errorf("%s v%d: kmsg writes %d bytes of the %d that it read, or others: it loses or changes a field", m.Name(), version, len(again), len(body))
	}
	return body, nil
}

type filler struct {
	contentSeed uint64
	elements    []int // by depth
}

// fields fills a structure's. The version is the first field of a request or response, and set already.
func (f *filler) fields(v reflect.Value, path string, depth int) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if !field.IsExported() || field.Type == tagsType || i == 0 && field.Name == "Version" {
			continue
		}
		f.fill(v.Field(i), path+"."+field.Name, depth)
	}
}

func (f *filler) fill(v reflect.Value, path string, depth int) {
	switch v.Kind() {
	case reflect.Struct:
		f.fields(v, path, depth)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem(), path, depth)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes(f.data(path, dataBytes))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), f.count(depth), f.count(depth)))
		for i := range v.Len() {
			f.fill(v.Index(i), path+"["+strconv.Itoa(i)+"]", depth+1)
		}
	case reflect.Array:
		reflect.Copy(v, reflect.ValueOf(f.data(path, v.Len())))
	case reflect.String:
		v.SetString(fmt.Sprintf("%0*x", textBytes, f.draw(path)))
	case reflect.Bool:
		v.SetBool(f.draw(path)&1 == 1)
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(f.draw(path)) >> (64 - v.Type().Bits()))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(f.draw(path) >> (64 - v.Type().Bits()))
	case reflect.Float64:
		v.SetFloat(float64(f.draw(path) >> 11))
	default:
		panic(fmt.Sprintf("%s is a %s, which the generator of messages doesn't know: teach it", path, v.Kind()))
	}
}

func (f *filler) count(depth int) int {
	if depth < len(f.elements) {
		return f.elements[depth]
	}
	return deeperElements
}

func (f *filler) draw(path string) uint64 { return f.stream(path).Next() }

func (f *filler) stream(path string) *seed.SplitMix64 {
	h := fnv.New64a()
	h.Write([]byte(path))
	first := seed.SplitMix64(f.contentSeed ^ h.Sum64())
	s := seed.SplitMix64(first.Next()) // an output, as with records: sums of the generator's own increment would repeat each other
	return &s
}

func (f *filler) data(path string, n int) []byte {
	s := f.stream(path)
	b := make([]byte, 0, n+8)
	for len(b) < n {
		for word, i := s.Next(), 0; i < 8; i++ {
			b = append(b, byte(word>>(8*i)))
		}
	}
	return b[:n]
}

// Expect is what a worker has to say of one message: its elements, its length, the sum of its bytes, its name and version, and its hash.
func (m Message) Expect(body []byte, version int, s shape.Shape) shape.Expectation {
	h := fnv.New64a()
	h.Write(body)
	e := shape.Expectation{Records: s.RecordsPerRequest(), Bytes: int64(len(body)), Hash: h.Sum64(), FirstKey: fmt.Sprintf("%s v%d", m.Name(), version)}
	for _, b := range body {
		e.ByteSum += uint64(b)
	}
	e.LastKey = fmt.Sprintf("%016x", e.Hash)
	return e
}
