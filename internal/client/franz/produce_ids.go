//go:build !franz_no_produce_ids

package franz

import "github.com/twmb/franz-go/pkg/kmsg"

// producedTo is the id that a request of Produce v13 or later names its topic by.
func producedTo(topic *kmsg.ProduceRequestTopic) [16]byte { return topic.TopicID }

func acknowledgeByID(topic *kmsg.ProduceResponseTopic, id [16]byte) { topic.TopicID = id }
