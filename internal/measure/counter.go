package measure

// State says what kind of answer a counter gave. Absent and unreadable are never zero by themselves.
type State string

const (
	Number     State = "number"     // the bean is there and its attribute is a number
	Absent     State = "absent"     // the agent answered, and there is no such bean or attribute
	Unreadable State = "unreadable" // no answer, an answer that is no JMX read, or a value that is no number
)

// Counter is one read of one attribute.
type Counter struct {
	State State  `json:"state"`
	Value int64  `json:"value"`         // meaningful only for Number
	Why   string `json:"why,omitempty"` // for Unreadable, and for Absent the agent's own words
}
