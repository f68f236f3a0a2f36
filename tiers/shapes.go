package tiers

import (
	"protocolbench/internal/bank"
	"protocolbench/internal/driver"
	"protocolbench/internal/schedule"
	"protocolbench/internal/shape"
	"protocolbench/pin"
)

// shapesOfProduce are tier 1's requests beside those of one partition with records that can't be compressed: what users send, and where a fault of one
// version may hide that no small request shows. Those in standard are the ones that such faults were found in; they take half a square.
func shapesOfProduce() []family {
	send := func(profile string, s shape.Shape, maxRequests int) family {
		return family{tier: 1, api: pin.Produce, shape: s, mode: driver.ModeBare, margin: 0.07, deciding: true, brief: true, profile: profile,
			batchTarget: schedule.BatchTarget, maxRequests: maxRequests}
	}
	var families []family
	for _, codec := range []string{shape.CompressionNone, shape.CompressionGzip, shape.CompressionSnappy, shape.CompressionLZ4, shape.CompressionZstd} {
		s := flat("compression="+codec+",acks=all", 100, 1, 1, 1)
		s.Compression = codec
		profile := schedule.Release
		if codec == shape.CompressionLZ4 {
			profile = schedule.Standard
		}
		f := send(profile, s, 160)
		if codec == shape.CompressionZstd {
			f.least, f.whyLeast = bank.ZstdProduce, "below v7 no request may carry zstd (KIP-110): franz-go sends such records uncompressed then, without a word"
		}
		families = append(families, f)
	}
	// 125 records a batch, of which 8 are the 1,000 after which time deltas begin again: so all requests have one length.
	large := flat("bytes=1MiB,acks=all", 125, 1, 8, 1)
	large.ValueBytes = 1 << 10
	headed := flat("headers=4,acks=all", 100, 1, 1, 1)
	headed.KeyBytes, headed.Headers = 64, 4
	return append(families,
		send(schedule.Standard, large, 4), // more would write gigabytes a block
		send(schedule.Standard, flat("partitions=10,acks=all", 10, 1, 10, 1), 120),
		send(schedule.Release, flat("partitions=100,acks=all", 2, 1, 100, 1), 60),
		send(schedule.Release, headed, 120),
	)
}

// shapesOfFetch are tier 1's responses of compressed batches. Codecs make batches of unequal length, so how many fit into so many bytes differs from response to
// response; a limit of one byte gets exactly one, since a broker sends the first batch whole (KIP-74).
func shapesOfFetch() []family {
	var families []family
	for _, codec := range []string{shape.CompressionNone, shape.CompressionGzip, shape.CompressionSnappy, shape.CompressionLZ4, shape.CompressionZstd} {
		s := flat("compression="+codec, 1000, 1, 1, 1)
		s.Compression, s.FetchBytes = codec, 1
		f := family{tier: 1, api: pin.Fetch, shape: s, mode: driver.ModeBare, margin: 0.07, deciding: true, brief: true, profile: schedule.Release,
			batchTarget: schedule.BatchTarget, maxRequests: 40, fetchWhole: s.RecordsPerBatch}
		if codec == shape.CompressionZstd {
			f.least, f.whyLeast = bank.ZstdFetch, "below v10 no response may carry zstd (KIP-110): a broker answers that the compression is unsupported"
		}
		families = append(families, f)
	}
	return families
}
