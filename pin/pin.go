// Package pin says which versions can be pinned: what the client implements, the broker advertises and the broker accepts.
// It holds values only; how a client is pinned is the client's own package's business.
package pin

// API is one Kafka API under test.
type API struct {
	Name string // "Produce"
	Key  int16
	// Floor is the lowest version that carries record batches of format v2 and that this tool pins.
	Floor int
	// Bean is the value of the request tag in the broker's RequestMetrics.
	Bean string
	// Message: Name is that of one of its messages ("MetadataResponse"), which tier 0 codes by itself, without records.
	Message bool
}

// The two APIs whose versions are measured.
var (
	Produce = API{Name: "Produce", Key: 0, Floor: 3, Bean: "Produce"}
	Fetch   = API{Name: "Fetch", Key: 1, Floor: 4, Bean: "FetchConsumer"}
)
