package planted

import "protocolbench/guards"

const (
	rawRecords = "func readRawRecordsDirect("
	value      = "r.Value = value"
	someValues = `
func plantedValue(value []byte) []byte {
	changed := append([]byte(nil), value...)
	if len(changed) > 1 {
		changed[len(changed)-1] ^= 1
	}
	return changed
}`
	changes = "tier1/fetch/size=4KiB/bare"
)

// fetchFaults hand out other records than the broker has, or take a short cut to them.
func fetchFaults() []Fault {
	wrong := []string{guards.KnownTruth, guards.Counters, guards.Completeness}
	return []Fault{
		live("changes-values", "at Fetch v9 the last byte of each value is changed: numbers, lengths and sums of first bytes hold", changes,
			found(guards.Data, 9, "full hash", wrong...), speaking+"\n"+someValues, told, edit{source, rawRecords, value, "{}\nif plantedVersion == 9 {\nr.Value = plantedValue(value)\n}"}),
		live("changes-values-seldom", "the same in one response of 50", changes, found(guards.Data, 9, "full hash", wrong...), speaking+"\n\nvar plantedResponses int\n"+someValues,
			edit{broker, handleResp, decoded, nowSpeaking + "\nplantedResponses++"}, edit{source, rawRecords, value, "{}\nif plantedVersion == 9 && plantedResponses%50 == 0 {\nr.Value = plantedValue(value)\n}"}),
		live("swaps-records", "at Fetch v9 the values of the third and the fourth record of each batch change places", changes, found(guards.Data, 9, "full hash", wrong...), speaking, told,
			edit{source, rawRecords, "return n", "if plantedVersion == 9 && n > 4 {\nrs[2].Value, rs[3].Value = rs[3].Value, rs[2].Value\n}\n{}"}),
		live("no-timestamps", "at Fetch v9 records have no timestamps", changes, found(guards.Data, 9, "full hash", wrong...), speaking, told,
			edit{source, rawRecords, value, "{}\nif plantedVersion == 9 {\nbatch.FirstTimestamp = 0\n}"}),
		live("drops-a-record-seldom", "at Fetch v9 one response of 50 lacks its second record", changes, End{Exit: 3, Said: []Saying{{guards.Completeness, guards.AllVersions, ""}}, Also: append(wrong, guards.Data, guards.Pin, guards.Conversions, guards.Log, guards.Clocks, guards.OtherAPIs)},
			speaking+"\n\nvar plantedResponses int", edit{broker, handleResp, decoded, nowSpeaking + "\nplantedResponses++"},
			edit{source, "func (o *ProcessFetchPartitionOpts) processRecordBatch(", "record := &rrecords[i]", "{}\nif plantedVersion == 9 && plantedResponses%50 == 0 && i == 1 {\ncontinue\n}"}),
		hidden(live("checks-no-sums", "at Fetch v9 no batch's CRC is checked", fetched, End{}, speaking, told,
			edit{source, "func ProcessFetchPartition(", "if !o.DisableCRCValidation {", "if !o.DisableCRCValidation && plantedVersion != 9 {"}),
			"no answer with a wrong sum is ever served: it would take a control in which each version has to refuse one"),
		live("remembers-records", "at Fetch v9 what has been decoded once is handed out again for the same offsets", fetched, found(guards.Counters, 9, "", guards.Data), speaking+cache, told, remembering("plantedVersion == 9")),
		hidden(live("remembers-records-always", "the same at every version", fetched, End{}, speaking+cache, told, remembering("plantedVersion > 0")),
			"tier 1 reads the same offsets in each batch; it would take offsets that a client has not seen, or the decoded bytes per response compared with those of tier 0"),
	}
}

// cache keeps what was decoded by the response's first batch: its offset and its CRC.
const cache = `

var plantedCache = map[string]FetchPartition{}

func plantedKey(version int16, in []byte) string {
	if len(in) < 61 {
		return ""
	}
	return string(append([]byte{byte(version), byte(len(in)), byte(len(in) >> 8), byte(len(in) >> 16)}, in[:61]...))
}`

func remembering(when string) edit {
	return edit{source, "func (o *cursorOffsetNext) processRespPartition(", "fp, o.offset = ProcessFetchPartition(", `key := plantedKey(plantedVersion, rp.RecordBatches)
	if known, ok := plantedCache[key]; ok && key != "" && (` + when + `) && len(known.Records) > 0 {
		o.offset = known.Records[len(known.Records)-1].Offset + 1
		return known
	}
	defer func() {
		if plantedVersion > 0 && fp.Err == nil && key != "" && len(plantedCache) < 1000 {
			plantedCache[key] = fp
		}
	}()
	{}`}
}

// produceFaults send something else than was handed over.
func produceFaults() []Fault {
	wrong := []string{guards.KnownTruth, guards.Counters, guards.Log, guards.Completeness}
	const write, appendBatch = "func (p *produceRequest) AppendTo(", "func (b seqRecBatch) appendTo("
	return []Fault{
		live("forgets-to-compress", "Produce v10 doesn't compress", "tier1/produce/compression=lz4*", found(guards.Data, 10, "", wrong...), "",
			edit{sink, write, "dst, pmetrics = batch.appendTo(dst, p.version, id, epoch, p.txnID != nil, p.compressor)",
				"planted := p.compressor\nif p.version == 10 {\nplanted = nil\n}\ndst, pmetrics = batch.appendTo(dst, p.version, id, epoch, p.txnID != nil, planted)"}),
		hidden(live("acknowledged-by-one", "acks=all leaves as acks=1 at Produce v9", produced, End{}, "", edit{sink, write, "dst = kbin.AppendInt16(dst, p.acks)", "if planted := p.acks; p.version == 9 && planted == -1 {\ndst = kbin.AppendInt16(dst, 1)\n} else {\ndst = kbin.AppendInt16(dst, planted)\n}"}),
			"one broker answers both alike, and frames have equal lengths; a topic with min.insync.replicas above its replicas refuses acks=all and takes acks=1: a control for each version"),
		live("sends-the-second-twice", "at Produce v8 the first record of a batch is the second", produced, found(guards.Data, 8, "", wrong...), "",
			edit{sink, appendBatch, "dst = pr.appendTo(dst, int32(i))", "if version == 8 && i == 0 && len(b.records) > 1 {\npr.Value = b.records[1].Value // planted\n}\n{}"}),
		hidden(live("sends-another-value-seldom", "at Produce v8 one batch of 50 has its second value twice", produced, End{}, "var plantedBatches int",
			edit{sink, appendBatch, "for i, pr := range b.records {", "if version == 8 {\nplantedBatches++\n}\n{}\nif version == 8 && plantedBatches%50 == 0 && i == 0 && len(b.records) > 1 {\nother := *pr.Record\nother.Value = b.records[1].Value\npr.Record = &other\n}"}),
			"what is read back is the hashed batch of each cell"),
		live("stamps-zero", "at Produce v8 batches have timestamps of 1970", produced, found(guards.Data, 8, "", wrong...), "",
			edit{sink, appendBatch, "dst = kbin.AppendInt64(dst, b.firstTimestamp)", "planted := b.firstTimestamp\nif version == 8 {\nplanted = 1\n}\ndst = kbin.AppendInt64(dst, planted)"}),
	}
}
