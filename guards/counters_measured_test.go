package guards

import (
	"fmt"

	"protocolbench/internal/driver"
	"protocolbench/internal/record"
	"protocolbench/internal/shape"
)

// measured are counters of real clients: franz-go v1.22.3 unless its name says otherwise, Kafka 4.4.0 in tier 1, Go 1.26 on amd64. from lists what a
// version had where it differed from the one before; all blocks of a version had the same.
type measured struct {
	name         string
	api          string
	shape        shape.Shape
	topic        string // live tiers
	records      int    // per request
	requests     int    // per batch
	steady       int    // requests of a steady pass
	last         int
	from         []counted
	reads        float64
	segmentsFrom map[int]int64 // received per response, from this version on
}

// counted is what one request and its response have from one version on.
type counted struct {
	version            int
	request, response  int
	allocs, allocBytes float64
}

func plain(records, batches, partitions, topics, fetchBytes, acks int) shape.Shape {
	return shape.Shape{RecordsPerBatch: records, BatchesPerPartition: batches, Partitions: partitions, Topics: topics, KeyBytes: 16, ValueBytes: 80, FetchBytes: fetchBytes, RequiredAcks: acks}
}

const liveTopic = "protocolbench-1a2c5d6e8f0-000001" // 32 bytes

var measuredFamilies = []measured{
	{name: "tier0/fetch/records=100/bare", api: fetchAPI, shape: plain(100, 1, 1, 1, 0, -1), records: 100, requests: 1132, steady: 283, last: 18, from: []counted{
		{4, 0, 10697, 6, 17624}, {5, 0, 10705, 6, 17624}, {7, 0, 10711, 6, 17624}, {11, 0, 10715, 6, 17624}, {12, 0, 10706, 6, 17624}, {13, 0, 10701, 5, 17600}}},
	{name: "tier0/fetch/topics=100/bare", api: fetchAPI, shape: plain(10, 1, 1, 100, 0, -1), records: 1000, requests: 16, steady: 4, last: 18, from: []counted{
		{4, 0, 116708, 501, 221728}, {5, 0, 117508, 501, 221728}, {7, 0, 117514, 501, 221728}, {11, 0, 117914, 501, 221728}, {12, 0, 117212, 501, 221728}, {13, 0, 116712, 401, 219328}}},
	{name: "tier0/fetch/partitions=512/bare", api: fetchAPI, shape: plain(10, 1, 512, 1, 0, -1), records: 5120, requests: 16, steady: 4, last: 18, from: []counted{
		{4, 0, 584226, 1539, 1089624}, {5, 0, 588322, 1539, 1089624}, {7, 0, 588328, 1539, 1089624}, {11, 0, 590376, 1539, 1089624}, {12, 0, 588324, 1539, 1089624}, {13, 0, 588319, 1538, 1089600}}},
	{name: "tier0/fetch/records=10000/bare", api: fetchAPI, shape: plain(10000, 1, 1, 1, 0, -1), records: 10000, requests: 12, steady: 3, last: 18, from: []counted{
		{4, 0, 1071229, 6, 1687896}, {5, 0, 1071237, 6, 1687896}, {7, 0, 1071243, 6, 1687896}, {11, 0, 1071247, 6, 1687896}, {12, 0, 1071239, 6, 1687896}, {13, 0, 1071234, 5, 1687872}}},
	{name: "tier0/produce/records=100/bare", api: produceAPI, shape: plain(100, 1, 1, 1, 0, -1), records: 100, requests: 120, steady: 30, last: 13, from: []counted{
		{3, 10696, 64, 37.16, 3292.8}, {5, 10696, 72, 37.16, 3308.8}, {8, 10696, 78, 37.16, 3308.8}, {9, 10690, 71, 38.16, 3340.8}, {13, 10685, 66, 37.16, 3300.8}}},
	{name: "tier0/produce/batches=1000x10/bare", api: produceAPI, shape: plain(10, 1, 1000, 1, 0, -1), records: 10000, requests: 16, steady: 4, last: 13, from: []counted{
		{3, 1119055, 22042, 3079.25, 621232}, {5, 1119055, 30042, 3079.25, 629424}, {8, 1119055, 36042, 3079.25, 637616}, {9, 1118051, 33039, 3080.25, 637648}, {13, 1118046, 33034, 3079.25, 637624}}},
	{name: "tier0/produce/topics=100/bare", api: produceAPI, shape: plain(10, 1, 1, 100, 0, -1), records: 1000, requests: 16, steady: 4, last: 13, from: []counted{
		{3, 114529, 4816, 972.25, 154352}, {5, 114529, 5616, 972.25, 155632}, {8, 114529, 6216, 972.25, 156016}, {9, 114127, 5615, 973.25, 155664}, {13, 113627, 5115, 873.25, 152496}}},
	{name: "tier1/fetch/size=4KiB/bare", api: fetchAPI, shape: plain(10, 1, 1, 1, 4<<10, -1), topic: liveTopic, records: 30, requests: 46, steady: 11, last: 18, reads: 2, segmentsFrom: map[int]int64{4: 2, 12: 3}, from: []counted{
		{4, 92, 4180, 59.09, 15253.8}, {5, 100, 4188, 59.09, 15253.8}, {7, 112, 4194, 59.09, 15253.8}, {9, 116, 4194, 59.09, 15253.8}, {11, 118, 4198, 59.09, 15253.8}, {12, 115, 4190, 60.09, 15285.8},
		{13, 98, 4173, 59.09, 15253.8}, {15, 94, 4173, 59.09, 15253.8}}},
	{name: "tier1/fetch/size=1MiB/bare", api: fetchAPI, shape: plain(10, 1, 1, 1, 1<<20, -1), topic: liveTopic, records: 9430, requests: 6, steady: 1, last: 18, reads: 6, segmentsFrom: map[int]int64{4: 18, 12: 19}, from: []counted{
		{4, 92, 1048660, 1963, 3193336}, {5, 100, 1048668, 1963, 3193336}, {7, 112, 1048674, 1963, 3193336}, {9, 116, 1048674, 1963, 3193336}, {11, 118, 1048678, 1963, 3193336}, {12, 115, 1048671, 1964, 3193368},
		{13, 98, 1048654, 1963, 3193336}, {15, 94, 1048654, 1963, 3193336}}},
	{name: "tier1/fetch/size=64KiB/bare", api: fetchAPI, shape: plain(10, 1, 1, 1, 64<<10, -1), topic: liveTopic, records: 580, requests: 23, steady: 5, last: 18, reads: 2, segmentsFrom: map[int]int64{4: 3, 12: 4}, from: []counted{
		{4, 92, 65620, 174.4, 198659.2}, {5, 100, 65628, 174.4, 198659.2}, {7, 112, 65634, 174.4, 198659.2}, {9, 116, 65634, 174.4, 198659.2}, {11, 118, 65638, 174.4, 198659.2},
		{12, 115, 65631, 177.4, 198739.2}, {13, 98, 65614, 176.4, 198707.2}, {15, 94, 65614, 176.4, 198707.2}}}, // the allocations of v12 and later are those of franz-go v1.19.0
	{name: "tier1/produce/records=1,acks=all/bare", api: produceAPI, shape: plain(1, 1, 1, 1, 0, -1), topic: liveTopic, records: 1, requests: 118, steady: 29, last: 13, reads: 1, segmentsFrom: map[int]int64{3: 1}, from: []counted{
		{3, 241, 76, 37.17, 3317.2}, {5, 241, 84, 37.17, 3317.2}, {8, 241, 90, 37.17, 3333.2}, {9, 235, 83, 38.17, 3349.2}, {13, 218, 66, 37.17, 3301.2}}},
	{name: "tier1/produce/records=1000,acks=all/bare", api: produceAPI, shape: plain(1000, 1, 1, 1, 0, -1), topic: liveTopic, records: 1000, requests: 26, steady: 6, last: 13, reads: 1, segmentsFrom: map[int]int64{3: 1}, from: []counted{
		{3, 107008, 76, 37.83, 3368}, {5, 107008, 84, 37.83, 3368}, {8, 107008, 90, 37.83, 3384}, {9, 107003, 83, 38.83, 3400}, {13, 106986, 66, 37.83, 3352}}},
	{name: "tier1/produce/records=1000,acks=0/bare", api: produceAPI, shape: plain(1000, 1, 1, 1, 0, 0), topic: liveTopic, records: 1000, requests: 14, steady: 3, last: 13, from: []counted{
		{3, 107008, 0, 31.67, 2888}, {9, 107003, 0, 31.67, 2888}, {13, 106986, 0, 31.67, 2888}}},
}

// run makes a record of it: two blocks, three clients of the newest version.
func (m measured) run() (*record.Run, *record.FamilyRun) {
	f := record.Family{Name: m.name, Tier: int(m.name[4] - '0'), API: m.api, Shape: m.shape, Mode: driver.ModeBare, Reference: m.last, RequestsPerBatch: m.requests, FewestRequests: m.requests,
		RecordsPerRequest: m.records, Rounds: 2, Blocks: 2}
	if m.api == fetchAPI {
		f.Key = 1
	}
	for v := m.from[0].version; v <= m.last; v++ {
		f.Cells = append(f.Cells, record.FamilyCell{Cell: len(f.Cells), Version: v, Role: record.RoleVersion})
	}
	for range 2 {
		f.Cells = append(f.Cells, record.FamilyCell{Cell: len(f.Cells), Version: m.last, Role: record.RoleTwin})
	}
	run := &record.Run{Families: []record.FamilyRun{{Family: f}}}
	for fork := range 2 {
		run.Families[0].BlockRuns = append(run.Families[0].BlockRuns, m.block(f, fork))
	}
	return run, &run.Families[0]
}

func (m measured) block(f record.Family, fork int) record.BlockRun {
	where := record.Where{Family: f.Name, Fork: fork}
	b := record.BlockRun{Block: record.Block{Where: where, Topic: m.topic}, Open: &record.Evidence{Where: where}, Close: &record.Evidence{Where: where}}
	for _, c := range f.Cells {
		n := m.at(c.Version)
		for round := range 2 {
			batch := record.Batch{Where: where, Round: round, Cell: c.Cell}
			batch.Requests, batch.Records, batch.WireBytesIn = m.requests, m.requests*m.records, int64(m.requests*n.response)
			if n.request > 0 {
				batch.WireRequests, batch.MinFrame, batch.MaxFrame, batch.WireBytesOut = m.requests, n.request, n.request, int64(m.requests*n.request)
			}
			b.Batches = append(b.Batches, batch)
		}
		s := record.Steady{Where: where, Cell: c.Cell}
		s.Requests, s.Records = m.steady, m.steady*m.records
		s.Allocs, s.AllocBytes = uint64(n.allocs*float64(m.steady)+0.5), uint64(n.allocBytes*float64(m.steady)+0.5)
		b.Steadies = append(b.Steadies, s)
		b.Open.Worker.Cells = append(b.Open.Worker.Cells, m.snapshot(c, f.Key, 10))
		b.Close.Worker.Cells = append(b.Close.Worker.Cells, m.snapshot(c, f.Key, 10+2*int64(m.requests)))
	}
	return b
}

// at is what a version counted.
func (m measured) at(version int) counted {
	n := m.from[0]
	for _, next := range m.from {
		if next.version <= version {
			n = next
		}
	}
	return n
}

func (m measured) snapshot(c record.FamilyCell, key int16, frames int64) driver.CellSnapshot {
	var segments int64
	since := -1
	for from, n := range m.segmentsFrom {
		if from <= c.Version && from > since {
			since, segments = from, n
		}
	}
	return driver.CellSnapshot{Cell: c.Cell, Reads: int64(m.reads * float64(frames)), DataSegsIn: segments * frames, Frames: []driver.Frames{{Key: key, Version: int16(c.Version), Count: frames}}}
}

func measuredFamily(name string) measured {
	for _, m := range measuredFamilies {
		if m.name == name {
			return m
		}
	}
	panic(fmt.Sprintf("no measured family %s", name))
}
