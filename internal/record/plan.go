package record

// Plan is what can be pinned of one API on one broker, and why the rest is not.
type Plan struct {
	Kind        string `json:"kind"`
	Tier        int    `json:"tier"`
	API         string `json:"api"`
	Key         int16  `json:"key"`
	Implemented [2]int `json:"implemented"` // by the client
	// BaselineImplemented: by the baseline of a run of two builds. Pinned is what both have.
	BaselineImplemented *[2]int      `json:"baselineImplemented,omitempty" since:"2"`
	Advertised          [2]int       `json:"advertised"` // by the broker; {-1,-1} where there is no broker
	Answers             []PlanAnswer `json:"answers"`
	Pinned              []int        `json:"pinned"`
	Negotiated          int          `json:"negotiated"` // what the client left alone uses; -1 unknown
	// Tries are the preflights of every version that was to be compared, and of the client left alone, build by build. Absent without a broker.
	Tries []Try `json:"tries,omitempty" since:"4"`
}

// PlanAnswer is one version's fate: pinned, left out for a Reason, or neither: then a client failed at it, and its Try says how.
type PlanAnswer struct {
	Version    int    `json:"version"`
	Advertised bool   `json:"advertised"`
	Accepted   bool   `json:"accepted"` // by one real request; since schema 4 it is this program's own, not the client's
	Pinned     bool   `json:"pinned"`
	Why        string `json:"why,omitempty"` // why not pinned
	// Reason is why the version is left out, in one of the words below; "" where it was to be compared.
	Reason string `json:"reason,omitempty" since:"4"`
	// Took is what the broker did with this program's own request of the version; "" where it was not asked.
	Took string `json:"took,omitempty" since:"4"`
}

// Reasons for which a version, or a family, is left out. None is about what a client did when it was tried: that is a result.
const (
	LeftNotAdvertised = "not advertised"        // the broker doesn't name it
	LeftRefused       = "refused by the broker" // it names it, and takes no request of it
	LeftOlderFormat   = "older record format"   // below the API's floor: another payload
	LeftOneBuild      = "one build lacks it"    // two builds are compared on what both implement
	LeftNotWritten    = "not written here"      // this program can't write the message that a client is to read
	LeftNotAsked      = "not asked for"         // --versions
	LeftUnchanged     = "schema unchanged"      // this family takes the versions at which the schema changed
	LeftShape         = "can't carry the shape" // e.g. zstd before Produce v7
	LeftAbility       = "ability lacking"       // the worker says that it can't measure the family
	LeftOtherCodecs   = "builds' own codecs"    // what two builds compress can't be compared by length
	LeftEmbedded      = "embedded broker"       // shows the flow by one family a tier
	LeftOtherBroker   = "one broker for tiers"  // an attached broker is that of one tier
	LeftNothingHeld   = "no version was pinned" // the client failed at each, which is a result
)

// What a broker did with this program's own request of a version that it advertises.
const (
	TookAnswered = "answered"
	TookClosed   = "closed the connection" // on two connections, one after the other
	TookError    = "answered UNSUPPORTED_VERSION"
	TookSilent   = "did not answer"
	TookUnasked  = "was not asked" // this program can't write the version
)

// How a preflight ended.
const (
	TryOpened  = "opened"
	TryRefused = "refused" // the worker answered with an error
	TryDied    = "died"
	TryHung    = "hung"
	TryJunk    = "junk"
)

// Try is one preflight of one build's worker: a version was asked for, and this came of it.
type Try struct {
	Version int    `json:"version"`         // -1: the client left alone
	Build   string `json:"build,omitempty"` // "" or BuildBaseline
	Outcome string `json:"outcome"`
	// AnswerVersion is the client's own word about what it spoke; -1: it has none.
	AnswerVersion int `json:"answerVersion"`
	// Sent are the API's request frames by version, as the worker counted them on its connections; nil: it counts none.
	Sent map[int]int64 `json:"sent"`
	// Arrived are the requests of the API that the broker counted meanwhile, by version; nil: its counters carry no versions, or can't be read.
	Arrived map[int]int64 `json:"arrived"`
	// Foreign: others may use the broker, so that what arrived need not be the client's.
	Foreign bool   `json:"foreign,omitempty"`
	Error   string `json:"error,omitempty"`
	// Earlier are the words of tries of the same version that failed before this one: a broker that had no time to answer is not the client's fault.
	Earlier []string `json:"earlier,omitempty"`
	Log     []string `json:"log,omitempty"` // last lines of a worker that died, hung or wrote junk
}

// Scope says which families a tier was to measure, before anything of it was measured: what the verdict is about is held against it.
type Scope struct {
	Kind     string        `json:"kind"`
	Tier     int           `json:"tier"`
	Families []ScopeFamily `json:"families"`
}

// ScopeFamily is a family that profile and --only ask for. Reason is why it is not measured; "" where it is to be.
type ScopeFamily struct {
	Name   string `json:"name"`
	API    string `json:"api"`
	Reason string `json:"reason,omitempty"`
	Why    string `json:"why,omitempty"`
}

// LeftVersions are versions that one family leaves out of those that its tier compares.
type LeftVersions struct {
	Versions []int  `json:"versions"`
	Reason   string `json:"reason"`
	Why      string `json:"why"`
}
