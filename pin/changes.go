package pin

import (
	"fmt"
	"strings"
)

// change is what one version of an API changed in the schema, against the version before it.
type change struct {
	text   string
	kip    string   // "" where no KIP is named for it
	fields []string // as Kafka's own schema names them, "request." or "answer." first; none where no field changed
}

// The facts are those of FetchRequest.json, FetchResponse.json, ProduceRequest.json and ProduceResponse.json of Kafka 4.4.0 (common/message in kafka-clients),
// where each field says which versions have it; versions that changed no field are explained in comments there and, for quota (KIP-219) and storage errors
// (KIP-112), in the schema classes of Kafka 1.x and 2.x. Checked against the fields of franz-go's kmsg v1.15.1.
var changes = map[string]map[int]change{
	Produce.Name: {
		3:  {"record batches of format v2; the transactional id", "KIP-98", []string{"request.TransactionalId"}},
		4:  {"no field: the client understands KAFKA_STORAGE_ERROR", "KIP-112", nil},
		5:  {"the log's start offset in the answer of each partition", "", []string{"answer.LogStartOffset"}},
		6:  {"no field: over quota, the broker answers first and throttles then", "KIP-219", nil},
		7:  {"no field: records may be compressed with zstd", "KIP-110", nil},
		8:  {"errors of single records, and an error message, in the answer of each partition", "KIP-467", []string{"answer.RecordErrors", "answer.ErrorMessage"}},
		9:  {"flexible encoding: compact strings, arrays and records, and a section of tagged fields after each structure", "KIP-482", nil},
		10: {"the leader's id and address where a partition has moved, as tagged fields", "KIP-951", []string{"answer.CurrentLeader", "answer.NodeEndpoints"}},
		11: {"no field: the client understands TRANSACTION_ABORTABLE", "KIP-890", nil},
		12: {"no field: in a transaction, producing to a partition also adds it to the transaction", "KIP-890", nil},
		13: {"topic ids of 16 bytes in place of topic names", "KIP-516", []string{"request.TopicId", "answer.TopicId"}},
	},
	Fetch.Name: {
		4: {"record batches of format v2; isolation level, last stable offset and the aborted transactions of each partition", "KIP-98",
			[]string{"request.IsolationLevel", "answer.LastStableOffset", "answer.AbortedTransactions"}},
		5: {"the log's start offset, in request and answer, of each partition", "KIP-107", []string{"request.LogStartOffset", "answer.LogStartOffset"}},
		6: {"no field: the client understands KAFKA_STORAGE_ERROR", "KIP-112", nil},
		7: {"fetch sessions: session id and epoch, the partitions to forget, and an error code for the whole answer", "KIP-227",
			[]string{"request.SessionId", "request.SessionEpoch", "request.ForgottenTopicsData", "answer.ErrorCode", "answer.SessionId"}},
		8:  {"no field: over quota, the broker answers first and throttles then", "KIP-219", nil},
		9:  {"the leader epoch that the client knows, in the request, of each partition", "KIP-320", []string{"request.CurrentLeaderEpoch"}},
		10: {"no field: records may be compressed with zstd", "KIP-110", nil},
		11: {"the consumer's rack in the request, and the preferred replica in the answer of each partition", "KIP-392", []string{"request.RackId", "answer.PreferredReadReplica"}},
		12: {"flexible encoding: compact strings, arrays and records, and a section of tagged fields after each structure, so after the records, too; last fetched epoch in the request", "KIP-482, KIP-595",
			[]string{"request.ClusterId", "request.LastFetchedEpoch", "answer.DivergingEpoch", "answer.CurrentLeader", "answer.SnapshotId"}},
		13: {"topic ids of 16 bytes in place of topic names", "KIP-516", []string{"request.TopicId", "request.ForgottenTopicsData.TopicId", "answer.TopicId"}},
		14: {"no field: the client understands OFFSET_MOVED_TO_TIERED_STORAGE", "KIP-405", nil},
		15: {"the replica's id moves into a tagged field, with its epoch, which a consumer leaves out", "KIP-903", []string{"request.ReplicaState"}},
		16: {"the addresses of new leaders in the answer, as a tagged field", "KIP-951", []string{"answer.NodeEndpoints"}},
		17: {"the follower's directory id in the request, as a tagged field, which a consumer leaves out", "KIP-853", []string{"request.ReplicaDirectoryId"}},
		18: {"the follower's high watermark in the request, as a tagged field, which a consumer leaves out", "KIP-1166", []string{"request.HighWatermark"}},
	},
}

// Change says in plain words what a version of an API ("Produce", "Fetch") changed in the schema against the version before it. False where nobody has
// written it down: versions below the API's Floor, and those that came after this table.
func Change(api string, version int) (text string, ok bool) {
	c, ok := changes[api][version]
	if !ok {
		return "", false
	}
	var sources []string
	if c.kip != "" {
		sources = append(sources, c.kip)
	}
	if len(c.fields) > 0 {
		sources = append(sources, strings.Join(c.fields, ", "))
	}
	if len(sources) == 0 {
		return c.text, true
	}
	return fmt.Sprintf("%s (%s)", c.text, strings.Join(sources, ": ")), true
}
