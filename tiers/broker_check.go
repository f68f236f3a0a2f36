package tiers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"protocolbench/internal/admin"
)

// told is what a broker says of the settings that results depend on.
type told struct {
	topicSettings map[string]string
	quotas        []string
	untold        []string
	limits        []admin.Quota // quotas, as they came
}

// unfitBroker says that something can't be measured on a broker as it is set up. It was found without the client under test, so it is a word about the
// broker.
type unfitBroker struct{ why, remedy string }

func (e *unfitBroker) Error() string {
	return "the broker is not set up for what is to be measured, which says nothing about the client: " + e.why + ": " + e.remedy
}

// rehearsalClientID is what franz-go calls itself where nobody gives it a name. How another client calls itself is unknown here.
const rehearsalClientID = "kgo"

// anonymous is whom a broker takes everybody for on a connection without authentication, which all are here.
const anonymous = "ANONYMOUS"

// rehearse has this program's own client do what the families are going to do, before any of them: on topics of the same settings, with the same
// batches and sizes. What it can't do, no client can, and the tier ends with a word about the broker.
func (s *session) rehearse(ctx context.Context, l *live, families []*familyState) error {
	l.ask(ctx)
	if err := s.unfitQuota(l.told.limits); err != nil {
		return err
	}
	err := s.rehearseOn(ctx, l, families)
	if err == nil || ctx.Err() != nil {
		return err
	}
	unfit := new(unfitBroker)
	if errors.As(err, &unfit) {
		return err
	}
	throttled := new(admin.Throttled)
	if errors.As(err, &throttled) {
		return &unfitBroker{err.Error(), "remove the client quota" + l.listed() + " for the time of the run, or use a broker without one"}
	}
	remedy := cmp.Or(admin.Remedy(err), "look into the broker's log, and at its settings")
	return &unfitBroker{err.Error(), remedy}
}

// ask reads what can be read beforehand. A cluster may refuse to tell, and an old one can't: that is said, and what is done shows it.
func (l *live) ask(ctx context.Context) {
	quotas, err := l.admin.Quotas(ctx)
	if err != nil {
		l.told.untold = append(l.told.untold, err.Error())
	}
	l.told.limits = quotas
	for _, q := range quotas {
		l.told.quotas = append(l.told.quotas, q.String())
	}
}

// harmlessRate is more than one client gets over any connection: a quota above it never throttles.
const harmlessRate = 16 << 30

// unfitQuota finds a quota that is, or may be, for a client under test. A burst of ten seconds passes before a broker throttles, so that what is moved in
// a rehearsal may not show one.
func (s *session) unfitQuota(quotas []admin.Quota) error {
	names := map[string]string{"consumer_byte_rate": "Fetch", "producer_byte_rate": "Produce", "request_percentage": "every request"}
	for _, q := range quotas {
		api, throttles := names[q.Name]
		if !throttles || q.Value >= harmlessRate || q.User != "" && q.User != anonymous || q.ClientID != "" && !s.mayBe(q.ClientID) {
			continue
		}
		return &unfitBroker{fmt.Sprintf("a client quota throttles %s: %s", api, q), "remove it for the time of the run, or use a broker without one"}
	}
	return nil
}

// mayBe tells whether a client under test may use a client id. Of clients other than franz-go nobody knows it, so it may be any.
func (s *session) mayBe(clientID string) bool {
	return clientID == rehearsalClientID || slices.ContainsFunc(s.sides, func(of *side) bool { return of.hello.Client != "franz-go" })
}

func (l *live) listed() string {
	if len(l.told.quotas) == 0 {
		return ""
	}
	return " (the cluster has " + strings.Join(l.told.quotas, ", ") + ")"
}

func (s *session) rehearseOn(ctx context.Context, l *live, families []*familyState) error {
	if err := s.learn(ctx, l); err != nil {
		return err
	}
	topic, err := s.newTopic(ctx, l)
	if err != nil {
		return err
	}
	defer l.dropTopic(context.WithoutCancel(ctx), topic)
	if err := l.readBack(ctx, topic); err != nil {
		return err
	}
	r := admin.Rehearsal{Topic: topic, ClientID: rehearsalClientID, BaseTimestampMs: s.baseMs}
	if err := s.rehearseProduce(ctx, l, r, families); err != nil {
		return err
	}
	return s.rehearseFetch(ctx, l, r, families)
}

// learn makes a first topic, of which the broker says what settings there are.
func (s *session) learn(ctx context.Context, l *live) error {
	topic, err := s.newTopic(ctx, l)
	if err != nil {
		return err
	}
	defer l.dropTopic(context.WithoutCancel(ctx), topic)
	if err := l.admin.LearnSettings(ctx, topic); err != nil {
		l.told.untold = append(l.told.untold, err.Error())
	}
	return nil
}

// readBack compares what a topic was asked for with what the broker says it has.
func (l *live) readBack(ctx context.Context, topic string) error {
	has, err := l.admin.TopicSettings(ctx, topic)
	if err != nil {
		l.told.untold = append(l.told.untold, err.Error())
		return nil
	}
	l.told.topicSettings = map[string]string{}
	asked := l.admin.Settings(nil)
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		value, there := has[name]
		if there {
			l.told.topicSettings[name] = value
		}
		if value != asked[name] {
			return &unfitBroker{fmt.Sprintf("a topic was created with %s=%s, and has %s=%s", name, asked[name], name, cmp.Or(value, "(none)")),
				"let topics override " + name + ", or set the broker's own default to " + asked[name]}
		}
	}
	return nil
}
