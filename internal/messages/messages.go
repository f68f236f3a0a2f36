// Package messages has the messages of every Kafka API, with the records of Produce as bytes that nobody looks into: which there are, and their bytes, filled from a seed. Tier 0 has the client
// under test encode the requests and decode the responses, as a client does; nobody's client decodes requests or encodes responses, so those are left out.
//
// The bytes are written by the kmsg that this program is linked with, and handed to the worker: a client that is built from a checkout, or is of another release, is measured on bytes
// that it did not make, and has to write them back as they were. Where the client under test is of the very release of that kmsg, a fault that both directions share
// (a field left out of reading and writing) can't be seen: an independent writer there is for Produce and Fetch alone (package codec).
package messages

import (
	"cmp"
	"reflect"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Directions of a message.
const (
	Request  = "request"  // which the client encodes
	Response = "response" // which the client decodes
)

// Groups of APIs, in the order in which they are measured and shown.
const (
	Groups       = "group"       // consumer, share and streams groups, and their offsets
	Transactions = "transaction" // producer ids and transactions
	Metadata     = "metadata"    // what every client asks for before anything else
	Framing      = "framing"     // requests and answers of Produce and Fetch by themselves
	Others       = "other"       // administration, and what only brokers send each other
)

var groupOrder = []string{Groups, Transactions, Metadata, Framing, Others}

// groupsOf has the keys of Kafka's protocol; what is in none is in Others.
var groupsOf = map[string][]int16{
	Groups:       {8, 9, 10, 11, 12, 13, 14, 15, 16, 42, 47, 68, 69, 76, 77, 78, 79, 88, 89, 90, 91, 92, 93},
	Transactions: {22, 24, 25, 26, 27, 28, 61, 65, 66},
	Metadata:     {2, 3, 18, 23, 60, 75},
	Framing:      {0, 1},
}

// Message is one direction of one API.
type Message struct {
	API       string // "Metadata"
	Key       int16
	Direction string
	Group     string
	Newest    int // the newest version that this program can write; the oldest is 0
	// Depth is how deep arrays stand in each other at the newest version: 0 has none.
	Depth int
}

// Name is the message's as the protocol's schemas have it, but for their capitals: "MetadataRequest".
func (m Message) Name() string {
	if m.Direction == Request {
		return m.API + "Request"
	}
	return m.API + "Response"
}

// measuredWithRecords is what is read with its records elsewhere. A Produce request is, too, but there in the whole client: here is its frame alone, as the client's
// message package writes it. (The client itself writes it with code of its own, in the same layout, which can't be called from outside.)
var measuredWithRecords = []string{"FetchResponse"}

// All lists the messages group by group, requests before responses, by key.
var All = sync.OnceValue(func() []Message {
	var list []Message
	for key := int16(0); key <= kmsg.MaxKey; key++ {
		request := kmsg.RequestForKey(key)
		if request == nil {
			continue
		}
		for _, direction := range []string{Request, Response} {
			m := Message{API: kmsg.NameForKey(key), Key: key, Direction: direction, Group: groupOf(key), Newest: int(request.MaxVersion())}
			m.Depth = depth(reflect.TypeOf(m.blank(0)).Elem())
			if !slices.Contains(measuredWithRecords, m.Name()) {
				list = append(list, m)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Message) int {
		return cmp.Compare(slices.Index(groupOrder, a.Group), slices.Index(groupOrder, b.Group))
	})
	return list
})

func groupOf(key int16) string {
	for _, group := range groupOrder {
		if slices.Contains(groupsOf[group], key) {
			return group
		}
	}
	return Others
}

// coded is what kmsg's requests and responses have in common.
type coded interface {
	SetVersion(int16)
	AppendTo([]byte) []byte
	ReadFrom([]byte) error
}

func (m Message) blank(version int) coded {
	var made coded
	if m.Direction == Request {
		made = kmsg.RequestForKey(m.Key)
	} else {
		made = kmsg.ResponseForKey(m.Key)
	}
	made.SetVersion(int16(version))
	return made
}

// depth of arrays below a structure. Bytes are no array: their length is the value's.
func depth(t reflect.Type) int {
	switch t.Kind() {
	case reflect.Pointer:
		return depth(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return 0
		}
		return 1 + depth(t.Elem())
	case reflect.Struct:
		deepest := 0
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && f.Type != tagsType {
				deepest = max(deepest, depth(f.Type))
			}
		}
		return deepest
	}
	return 0
}
