//go:build franz_no_produce_ids

package franz

import "github.com/twmb/franz-go/pkg/kmsg"

// This client ends before Produce v13: its messages have no field for a topic's id, and nothing asks for one.

func producedTo(*kmsg.ProduceRequestTopic) [16]byte { return [16]byte{} }

func acknowledgeByID(*kmsg.ProduceResponseTopic, [16]byte) {}
