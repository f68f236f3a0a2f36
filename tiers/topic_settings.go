package tiers

// topicSettings are the settings that what is measured depends on, given to every topic of a run, so that a cluster's own defaults don't
// change what is measured. Only names that 1.1.0 and 4.x both know: 1.1.0 refuses a topic with an unknown one.
func topicSettings() map[string]string {
	return map[string]string{
		"cleanup.policy":         "delete",
		"compression.type":       "producer",   // else the broker compresses again, and the records that it stores aren't those that were sent
		"max.message.bytes":      "1048588",    // Kafka's own default, which every shape has been run with
		"message.timestamp.type": "CreateTime", // else the broker replaces the timestamps, which are hashed
		"min.insync.replicas":    "1",          // a topic has one replica
		"retention.bytes":        "-1",
		"retention.ms":           "-1",
		"segment.bytes":          "1073741824", // Kafka's own default
		"segment.ms":             "604800000",  // and here
	}
}
