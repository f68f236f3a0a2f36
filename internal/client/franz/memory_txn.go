package franz

import "github.com/twmb/franz-go/pkg/kmsg"

// What a transaction asks for outside of its Produce requests; all of it before a clock runs, since one transaction spans a cell.

// fillFeatures says that a Produce request adds its partitions to the transaction by itself (KIP-890): without it franz-go speaks no Produce above v11 in one.
func fillFeatures(resp *kmsg.ApiVersionsResponse) {
	feature := kmsg.NewApiVersionsResponseFinalizedFeature()
	feature.Name, feature.MinVersionLevel, feature.MaxVersionLevel = "transaction.version", 2, 2
	resp.FinalizedFeaturesEpoch = 1
	resp.FinalizedFeatures = append(resp.FinalizedFeatures, feature)
}

func fillCoordinator(resp *kmsg.FindCoordinatorResponse, req *kmsg.FindCoordinatorRequest) {
	resp.NodeID, resp.Host, resp.Port = memoryNode, "memory", 9092
	for _, name := range req.CoordinatorKeys { // v4 and later
		one := kmsg.NewFindCoordinatorResponseCoordinator()
		one.Key, one.NodeID, one.Host, one.Port = name, memoryNode, "memory", 9092
		resp.Coordinators = append(resp.Coordinators, one)
	}
}

func fillAdded(resp *kmsg.AddPartitionsToTxnResponse, req *kmsg.AddPartitionsToTxnRequest) {
	for i := range req.Topics {
		topic := kmsg.NewAddPartitionsToTxnResponseTopic()
		topic.Topic = req.Topics[i].Topic
		for _, p := range req.Topics[i].Partitions {
			partition := kmsg.NewAddPartitionsToTxnResponseTopicPartition()
			partition.Partition = p
			topic.Partitions = append(topic.Partitions, partition)
		}
		resp.Topics = append(resp.Topics, topic)
	}
}
