package report

import (
	"slices"

	"protocolbench/internal/verdict"
)

// sourcesOf says what each figure is made of, by the rows and fields of the record (FORMAT.md).
func sourcesOf(v verdict.Verdict) []string {
	if v.Baseline != nil {
		return slices.Concat(buildsSources, commonSources)
	}
	return slices.Concat(oneBuildSources, commonSources)
}

var oneBuildSources = []string{
	"us/req, ns/rec: CPU by batch.cpuNs (the worker's process clock between request boundaries) per batch.requests and batch.records; trimmed mean over all batches of the version; for the reference over its three clients.",
	"diff, interval: paired differences of ln(batch.cpuNs) within a round against the reference, trimmed mean and two-sided 95 % interval. The reference's own is against the versions left of it.",
	"floor: the smallest margin at which all versions would come out \"not slower\" with 90 % probability if they were equal.",
	"second look: the look row and the blocks with block.look 2. What it was taken at is judged by both looks together, all else by the first alone.",
	"step: the row of versions cut where their levels of batch.cpuNs change in every draw and in nearly all bootstraps over forks; against the plateau on its left, with the 95 % interval. Material: 1 us per request and 1 % of it. Its schema change is in full in verdict.json. Steps explain and decide nothing. DEARER: the newest version costs more than an older one by the margin, by the same contrasts and corrections as slower: what came with one version is in all after it.",
	"growth: slopes of ln(CPU per record) over ln(size) on the three largest sizes, each version's beside the reference's. A version grows whose slope lies above another's by more than chance, and by an amount that matters at the largest size.",
	"wall time: batch.wallNs, requestP50Ns, requestP99Ns and longestGapNs, against the reference as CPU time is, with a wide margin of its own. A stall is a long gap that comes back on one version in every draw.",
	"segs, reads: dataSegsIn and reads of the evidence rows by the frames of the API, between both ends of each block's bracket.",
	"p50, p99: batch.requestP50Ns and requestP99Ns, wall time; means over batches. rec/s: batch.records by batch.wallNs.",
}

var commonSources = []string{
	"allocs, per record: steady.allocs per steady.records, from a pass of its own without forced collections; the value that most blocks agree on.",
	"twins: the largest difference between clients of one version. canary: family.plantNsPerRequest of extra CPU, which has to be found.",
	"proofs: the evidence rows at both ends of each block's bracket, the batch and cell rows, and the control rows, by the guards.",
	"every API that the clients used: the frames of the evidence rows, by key and version, in report.md and report.html: before the brackets the sums of their opening ends, within them the differences of both ends.",
	"orchestrator: batch.parentCpuNs by batch.wallNs.",
}
