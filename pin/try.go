package pin

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"protocolbench/internal/record"
)

// Fault is what a preflight shows to be wrong with a client.
type Fault int

const (
	Held         Fault = iota // the version that was asked for was spoken, by every witness that there is
	OtherVersion              // another version was sent, or spoken by the client's own word
	NothingSent               // the client says that it spoke the version, and no request of it left or arrived
	Incompatible              // an error, a hang or an end at a version that both sides name
)

// Found is a preflight's judgement. Sent is the other version, where there is one.
type Found struct {
	Fault Fault
	Sent  int
	Why   string
}

// Judge looks at one preflight of a pinned version. What left decides before what the client says: a client that sends another version than it was asked for
// mostly fails on the answer, and its error is about that. What arrived at a broker that others may use, too, is no evidence against the client.
func Judge(api string, t record.Try) Found {
	name := fmt.Sprintf("%s v%d", api, t.Version)
	if sent, n := other(t.Sent, t.Version); n > 0 {
		return Found{OtherVersion, sent, fmt.Sprintf("asked for %s, %s was sent (%s on the wire%s)", name, versions(t.Sent, t.Version), requests(n), words(t))}
	}
	if arrived, n := other(t.Arrived, t.Version); n > 0 && !t.Foreign {
		return Found{OtherVersion, arrived, fmt.Sprintf("asked for %s, %s arrived (%s by the broker's count%s)", name, versions(t.Arrived, t.Version), requests(n), words(t))}
	}
	if t.AnswerVersion >= 0 && t.AnswerVersion != t.Version {
		return Found{OtherVersion, t.AnswerVersion, fmt.Sprintf("asked for %s, the client itself says that it spoke v%d%s", name, t.AnswerVersion, words(t))}
	}
	switch {
	case t.Outcome != record.TryOpened:
		return Found{Incompatible, -1, fmt.Sprintf("the client can't speak %s with a broker that takes it: %s", name, ended(t))}
	case t.Sent != nil && t.Sent[t.Version] == 0:
		return Found{NothingSent, -1, fmt.Sprintf("asked for %s, and no request left: whatever the client took for an answer was none to it", name)}
	case t.Arrived != nil && t.Arrived[t.Version] == 0 && !t.Foreign:
		return Found{NothingSent, -1, fmt.Sprintf("asked for %s, and the broker counted no request of it, though the client says that it was answered", name)}
	}
	return Found{Held, -1, ""}
}

// Alone looks at the preflight of a client left alone, and at one request that it sent by itself: what it speaks has to be a version that it says it implements, and one that
// the broker names, and what it sends what it says.
func Alone(api string, t record.Try, implemented, advertised [2]int) Found {
	if t.Outcome != record.TryOpened {
		return Found{Incompatible, -1, fmt.Sprintf("the client left alone can't use %s on this broker: %s", api, ended(t))}
	}
	spoken := slices.Sorted(maps.Keys(t.Sent))
	if t.AnswerVersion >= 0 {
		spoken = append(spoken, t.AnswerVersion)
	}
	for _, v := range spoken {
		switch {
		case !within(v, implemented):
			return Found{OtherVersion, v, fmt.Sprintf("left alone the client speaks %s v%d, and it says that it implements v%d-v%d: versions that it hides are not compared", api, v, implemented[0], implemented[1])}
		case !within(v, advertised):
			return Found{OtherVersion, v, fmt.Sprintf("left alone the client speaks %s v%d, and the broker advertises v%d-v%d", api, v, advertised[0], advertised[1])}
		}
	}
	if sent, n := other(t.Sent, t.AnswerVersion); n > 0 && t.AnswerVersion >= 0 {
		return Found{OtherVersion, sent, fmt.Sprintf("left alone the client says that it spoke %s v%d, and %s was sent (%s)", api, t.AnswerVersion, versions(t.Sent, t.AnswerVersion), requests(n))}
	}
	return Found{Held, -1, ""}
}

// other gives the version, beside the one asked for, that there were most requests of, and how many of all others.
func other(counts map[int]int64, asked int) (version int, n int64) {
	version = -1
	for _, v := range slices.Sorted(maps.Keys(counts)) {
		if v == asked || counts[v] <= 0 {
			continue
		}
		if n += counts[v]; version < 0 || counts[v] > counts[version] {
			version = v
		}
	}
	return version, n
}

// versions lists the others.
func versions(counts map[int]int64, asked int) string {
	var list []string
	for _, v := range slices.Sorted(maps.Keys(counts)) {
		if v != asked && counts[v] > 0 {
			list = append(list, fmt.Sprintf("v%d", v))
		}
	}
	if list == nil {
		return "nothing"
	}
	return strings.Join(list, " and ")
}

func requests(n int64) string {
	if n == 1 {
		return "1 request"
	}
	return fmt.Sprintf("%d requests", n)
}

// words quotes the client, where it failed, too.
func words(t record.Try) string {
	if t.Error == "" {
		return ""
	}
	return "; the client's words: " + t.Error
}

func ended(t record.Try) string {
	text := t.Error
	if text == "" {
		text = t.Outcome
	}
	if len(t.Log) > 0 {
		text += "; its last log line: " + t.Log[len(t.Log)-1]
	}
	return text
}
