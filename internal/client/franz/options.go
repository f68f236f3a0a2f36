package franz

import (
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"protocolbench/internal/driver"
	"protocolbench/internal/shape"
)

const (
	// metadataAge and idle are the longest that franz-go takes: no refresh and no reaping inside a block.
	metadataAge = time.Hour
	idle        = 15 * time.Minute
	// fetchWait bounds a long poll. Cells never ask beyond what is there, so it matters only when something is wrong; the
	// broker counts a long poll when it ends, and the parent waits for twice this time.
	fetchWait = 500 * time.Millisecond
	// transactionalID of tier 0's transactions.
	transactionalID = "protocolbench-transaction"
	// batchBytes and requestBytes hold the largest tier 0 request in one batch and one frame.
	batchBytes   = 64 << 20
	requestBytes = 100 << 20
	// responseBytes is the longest response that franz-go takes by default, with room for its head.
	responseBytes = 99 << 20
)

// ordinary is what every client has, and in the modes bare and gc what switches off everything that varies by itself: telemetry,
// refreshes, and retries that would hide a failure. Shipped leaves the client as it comes.
func ordinary(open driver.Open, brokers ...string) []kgo.Opt {
	opts := append(pinned(keyOf(open.API), open.Version), kgo.SeedBrokers(brokers...))
	if open.Mode == driver.ModeShipped {
		return opts
	}
	return append(opts,
		kgo.DisableClientMetrics(),
		kgo.MetadataMaxAge(metadataAge),
		kgo.ConnIdleTimeout(idle),
		kgo.RequestRetries(2),
	)
}

// fetching reads partition 0 of the topic from an exact offset: no group, no offset lookup. The limits are the shape's axis and
// stand in every mode.
func fetching(open driver.Open) []kgo.Opt {
	opts := append(ordinary(open, open.Brokers...),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{open.Topic: {0: kgo.NewOffset().At(0)}}),
	)
	if open.Shape.FetchBytes > 0 {
		opts = append(opts,
			kgo.FetchMaxBytes(int32(open.Shape.FetchBytes)),
			kgo.FetchMaxPartitionBytes(int32(open.Shape.FetchBytes)),
		)
	}
	if open.Mode == driver.ModeShipped {
		return opts
	}
	return append(opts,
		kgo.DisableFetchSessions(),
		kgo.FetchMinBytes(1),
		kgo.FetchMaxWait(fetchWait),
		kgo.KeepRetryableFetchErrors(),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()),
	)
}

// producing sends whole requests when told to. An idempotent producer is left out: it keeps one request in flight up to v3
// and five from v4 on, which is no codec's doing. RecordRetries(0): a record stored twice would look like a faster client.
func producing(open driver.Open, brokers ...string) []kgo.Opt {
	opts := ordinary(open, brokers...)
	if open.Shape.RequiredAcks == 0 {
		opts = append(opts, kgo.RequiredAcks(kgo.NoAck()), kgo.DisableIdempotentWrite())
	} else {
		opts = append(opts, kgo.RequiredAcks(kgo.AllISRAcks()))
	}
	if open.Mode == driver.ModeShipped {
		return opts
	}
	switch {
	case open.Shape.Transactional: // needs an idempotent producer; in tier 0 the memory answers at once, so nothing is ever in flight beside
		opts = append(opts, kgo.TransactionalID(transactionalID))
	case open.Shape.RequiredAcks != 0:
		opts = append(opts, kgo.DisableIdempotentWrite())
	}
	return append(opts,
		kgo.MaxProduceRequestsInflightPerBroker(1),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchCompression(compressing(open.Shape)),
		kgo.ManualFlushing(),
		kgo.ProducerLinger(0), // its timer would run beside manual flushes
		kgo.RecordRetries(0),
		kgo.ProducerBatchMaxBytes(batchBytes),
		kgo.BrokerMaxWriteBytes(requestBytes),
		kgo.MaxBufferedRecords(max(50_000, open.Shape.RecordsPerRequest())),
	)
}

// compressing is the client's compressor that a shape asks for, at its default level.
func compressing(s shape.Shape) kgo.CompressionCodec {
	switch s.Compression {
	case shape.CompressionGzip:
		return kgo.GzipCompression()
	case shape.CompressionSnappy:
		return kgo.SnappyCompression()
	case shape.CompressionLZ4:
		return kgo.Lz4Compression()
	case shape.CompressionZstd:
		return kgo.ZstdCompression()
	}
	return kgo.NoCompression()
}
