// Package verdict turns a record and its findings into words: per version, per family and for the run.
package verdict

import (
	"protocolbench/guards"
	"protocolbench/internal/record"
)

// Words per version.
const (
	Slower       = "slower"
	NotSlower    = "not slower"
	Unresolved   = "unresolved"
	Unresolvable = "unresolvable"
)

// Words for the run, and their exit codes.
const (
	Pass         = "pass"
	Fail         = "fail"
	Inconclusive = "inconclusive"

	ExitPass         = 0
	ExitHarness      = 1
	ExitUsage        = 2
	ExitFail         = 3
	ExitInconclusive = 4
)

// Unbounded stands for infinity in a Family's Floor (no margin would do) and a Cell's High.
const Unbounded = 1e9

// Verdict is verdict.json.
type Verdict struct {
	Schema     int              `json:"schema"`
	Verdict    string           `json:"verdict"`
	Reason     string           `json:"reason"`
	ExitCode   int              `json:"exitCode"`
	Seed       uint64           `json:"seed"`
	Profile    string           `json:"profile"`
	Replay     string           `json:"replay"`
	Plants     []string         `json:"plants,omitempty"` // slowdowns planted with --plant: the verdict is about this program then, not about the client
	Client     Client           `json:"client"`
	Baseline   *Client          `json:"baseline,omitempty"` // of a run of two builds; client is the candidate then
	Brokers    []Broker         `json:"brokers"`
	Families   []Family         `json:"families"`
	Sanity     []Sanity         `json:"sanity"` // tier 2: figures of a type that cannot be divided by a Cell's
	Guards     []guards.Finding `json:"guards"`
	Negotiated []Negotiated     `json:"negotiated"`
	Warnings   []Warning        `json:"warnings"`
	// LeftOut are the versions and families that were not compared, each with its reason; Accounting holds what was judged against what was planned.
	LeftOut    []LeftOut  `json:"leftOut"`
	Accounting Accounting `json:"accounting"`
	// NotCovered is what the program has families for and this run did not measure; nil where the record doesn't say.
	NotCovered []record.Unmeasured `json:"notCovered,omitempty"`
}

// Client is the build under test.
type Client struct {
	Name    string            `json:"name"`
	Version string            `json:"version"`
	Build   map[string]string `json:"build,omitempty"`
	// Spec, Revision and ContentHash are empty in records of schema 1.
	Spec        string `json:"spec,omitempty"` // as it was asked for
	Revision    string `json:"revision,omitempty"`
	ContentHash string `json:"contentHash,omitempty"`
}

// Broker is one broker of the run.
type Broker struct {
	Tier      int    `json:"tier"`
	Provider  string `json:"provider"`
	Release   string `json:"release"`
	ClusterID string `json:"clusterId"`
	Jolokia   bool   `json:"jolokia"`
	// Overridden says why this broker is not what its tier is for, where --any-broker had it measured all the same.
	Overridden string `json:"overridden,omitempty"`
}

// Negotiated is what the client left alone uses.
type Negotiated struct {
	Tier    int    `json:"tier"`
	API     string `json:"api"`
	Version int    `json:"version"`
}

// Warning is a value with a remedy; the report shows it as a footnote.
type Warning struct {
	Text   string `json:"text"`
	Remedy string `json:"remedy"`
}

// UnitRequest: the cost is that of a request.
const UnitRequest = "request"

// Family is one family's judgement. Ratios are relative (0.05 = 5 %).
type Family struct {
	Tier      int     `json:"tier"`
	Name      string  `json:"name"`
	API       string  `json:"api"`
	Mode      string  `json:"mode"`
	Message   string  `json:"message,omitempty"` // as in the record: a message alone, without records
	Group     string  `json:"group,omitempty"`
	Reference int     `json:"reference"`
	Margin    float64 `json:"margin"`
	Floor     float64 `json:"floor"`
	Deciding  bool    `json:"deciding"`
	// Unit is what figures per record are per where that isn't a record: UnitRequest where responses bring none.
	Unit     string    `json:"unit,omitempty"`
	Warnings []Warning `json:"warnings"`
	Cells    []Cell    `json:"cells"`
	// Twin is the largest |difference| between clients of the same version; Canary the plant as found.
	Twin   float64 `json:"twin"`
	Canary Canary  `json:"canary"`
	// Position is the test for a cost that depends on the place in the round.
	Position Position `json:"position"`
	Rounds   int      `json:"rounds"` // whole ones, all forks together
	Forks    int      `json:"forks"`  // all draws together
	Draws    int      `json:"draws"`
	// Looks is how many looks were taken at the family: 2 where the first left a version undecided and time was left.
	Looks int `json:"looks"`
	// LeftPlateau are the versions that the newest one is compared with.
	LeftPlateau []int `json:"leftPlateau,omitempty"`
	// Steps are the places between two neighbouring versions at which the cost changes, in rising order.
	Steps []Step `json:"steps"`
	// Dearer: the newest version costs more than an older one, by the margin.
	Dearer *Dearer `json:"dearer,omitempty"`
	// Growth is how the cost per record grows along an axis of sizes; it stands with the family of the largest size.
	Growth *Growth `json:"growth,omitempty"`
	// WallMargin is the margin of the verdicts on wall time.
	WallMargin float64 `json:"wallMargin,omitempty"`
	// Builds is there in a run of two builds. Margin and Floor are then those of candidate against baseline.
	Builds *Builds `json:"builds,omitempty"`
	// Limits are what the family could not have seen.
	Limits *Limits `json:"limits,omitempty"`
	// Embedded: measured on an embedded broker. Reports show no figure of it.
	Embedded bool `json:"embedded,omitempty"`
}

// Position is the outcome of the F test of residuals by position.
type Position struct {
	P      float64 `json:"p"`
	Spread float64 `json:"spread"` // between the cheapest and the dearest position
	Alarm  bool    `json:"alarm"`
}

// Step is one place in the row of versions at which the cost changes.
type Step struct {
	At           int     `json:"at"`         // the first version with the new cost
	Difference   float64 `json:"difference"` // of the plateau that begins here to the one before
	Low          float64 `json:"low"`        // 95 %
	High         float64 `json:"high"`
	UsPerRequest float64 `json:"usPerRequest"`
	Material     bool    `json:"material"`
	Change       string  `json:"change"` // what the version's schema changed, in plain words; "" where nobody knows of a change
}

// Growth is how the cost per record of each version grows with size, beside the reference's.
type Growth struct {
	Axis      string       `json:"axis"`      // e.g. "records"
	Sizes     []float64    `json:"sizes"`     // the top three, rising
	Reference float64      `json:"reference"` // slope of ln(cost per record) over ln(size) of the reference version
	Cells     []GrowthCell `json:"cells"`
}

// GrowthCell is one version's slope of ln(cost per record) over ln(size), less the reference's: 0 grows as it does, 1 is quadratic.
type GrowthCell struct {
	Version int     `json:"version"`
	Slope   float64 `json:"slope"`
	Low     float64 `json:"low"` // 95 %
	High    float64 `json:"high"`
	P       float64 `json:"p"`     // one-sided, Holm-corrected over versions
	Grows   bool    `json:"grows"` // significant, and material at the largest size
}

// Wall is one version's verdict on wall time against the reference.
type Wall struct {
	Verdict    string  `json:"verdict"` // the words of a cell
	Why        string  `json:"why,omitempty"`
	Difference float64 `json:"difference"` // of the wall time per request, relative
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	P50        float64 `json:"p50"` // relative difference of the median request's time
	P99        float64 `json:"p99"`
	// Gap is how many times the reference's the longest gap is, by the medians of batches; Stalls says that a gap came back on this version in every draw.
	Gap    float64 `json:"gap"`
	Stalls bool    `json:"stalls,omitempty"`
}

// Canary is the planted slowdown of a family.
type Canary struct {
	Planted float64 `json:"planted"`
	Found   float64 `json:"found"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	Seen    bool    `json:"seen"`
}

// Cell is one version of a family.
type Cell struct {
	Version int    `json:"version"`
	Verdict string `json:"verdict"`
	Differs bool   `json:"differs"`
	Why     string `json:"why,omitempty"`
	// MoreRounds is how many times as many rounds would settle an undecided version, if its estimate stays; 0: it is settled, or no number of them would.
	MoreRounds float64 `json:"moreRounds,omitempty"`
	Contrast   string  `json:"contrast"` // "newest" or "left plateau"
	Difference float64 `json:"difference"`
	Low        float64 `json:"low"` // 95 %, two-sided
	High       float64 `json:"high"`
	// Unbounded: the samples carry no interval. Low and High are -1 and Unbounded then, since JSON has no infinity.
	Unbounded bool    `json:"unbounded,omitempty"`
	P         float64 `json:"p"` // one-sided, against "not slower at all", Holm-corrected over the family
	// Faster: its interval lies below 0 (two builds only: of two versions one always is the faster one).
	Faster bool `json:"faster,omitempty"`
	// LeftBehind: the versions that it is compared with became cheaper, and it did not (two builds only).
	LeftBehind bool `json:"leftBehind,omitempty"`
	// Wall is the verdict on wall time: a stall costs no CPU.
	Wall *Wall `json:"wall,omitempty"`
	// Curve, Within and Baseline are there in a run of two builds.
	Curve    *Difference `json:"curve,omitempty"`    // how the version's place among the versions changed from baseline to candidate
	Within   *Difference `json:"within,omitempty"`   // the candidate's own version contrast; decides nothing in such a run
	Baseline *Figures    `json:"baseline,omitempty"` // what the version costs with the baseline

	CPUUsPerRequest      float64 `json:"cpuUsPerRequest"`
	CPUNsPerRecord       float64 `json:"cpuNsPerRecord"`
	WallUsPerRequest     float64 `json:"wallUsPerRequest"`
	P50Us                float64 `json:"p50Us"`
	P99Us                float64 `json:"p99Us"`
	LongestGapUs         float64 `json:"longestGapUs"`
	RecordsPerSecond     float64 `json:"recordsPerSecond"`
	AllocsPerRecord      float64 `json:"allocsPerRecord"`
	AllocBytesPerRecord  float64 `json:"allocBytesPerRecord"`
	WireBytesPerRecord   float64 `json:"wireBytesPerRecord"`
	RequestsPer1000      float64 `json:"requestsPer1000Records"`
	BrokerCPUNsPerRecord float64 `json:"brokerCpuNsPerRecord"` // -1: unknown
	SegmentsInPerRequest float64 `json:"segmentsInPerRequest"` // -1: unknown
}

// Sanity is what tier 2 saw of one shape: a check that it works, not a measurement to compare.
type Sanity struct {
	Name                 string  `json:"name"`
	API                  string  `json:"api"`
	Version              int     `json:"version"` // negotiated
	Records              int64   `json:"records"`
	SanityCPUNsPerRecord float64 `json:"sanityCpuNsPerRecord"`
	LiveHeapFirstBytes   uint64  `json:"liveHeapFirstBytes"`
	LiveHeapLastBytes    uint64  `json:"liveHeapLastBytes"`
}

// Builds is what a family of a run of two builds has beside.
type Builds struct {
	CurveMargin float64 `json:"curveMargin"`
	CurveFloor  float64 `json:"curveFloor"`
	Layouts     Layouts `json:"layouts"`
	// IdleShare is the CPU that the idle worker used, as a part of what the working one used meanwhile; -1 unknown.
	IdleShare      float64 `json:"idleShare"`
	BaselineTwin   float64 `json:"baselineTwin"`
	BaselineCanary Canary  `json:"baselineCanary"`
}

// Layouts is what a comparison with one layout of each build would have said, once per pair of layouts: the error that the linker makes.
type Layouts struct {
	Pairs int `json:"pairs"`
	// Low and High are the lowest and the highest difference of candidate and baseline, over all versions, that one pair alone shows.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	SD   float64 `json:"sd"` // of the pairs
	// Differ counts, of Of pairs x versions, those whose own 95 % interval, by their own rounds, doesn't have 0 in it.
	Differ int `json:"differ"`
	Of     int `json:"of"`
}

// Difference is one more contrast of a version.
type Difference struct {
	Contrast   string  `json:"contrast"`
	Difference float64 `json:"difference"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Unbounded  bool    `json:"unbounded,omitempty"`
	P          float64 `json:"p"`
}

// Figures are what a version costs.
type Figures struct {
	CPUUsPerRequest     float64 `json:"cpuUsPerRequest"`
	CPUNsPerRecord      float64 `json:"cpuNsPerRecord"`
	RecordsPerSecond    float64 `json:"recordsPerSecond"`
	AllocsPerRecord     float64 `json:"allocsPerRecord"`
	AllocBytesPerRecord float64 `json:"allocBytesPerRecord"`
	WireBytesPerRecord  float64 `json:"wireBytesPerRecord"`
	RequestsPer1000     float64 `json:"requestsPer1000Records"`
}
