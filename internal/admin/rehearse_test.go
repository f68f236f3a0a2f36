package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"protocolbench/internal/shape"
)

// answering gives an Admin on a fake broker with topic t, whose every answer to Produce has an error and a throttle time.
func answering(t *testing.T, code *kerr.Error, throttleMs int32) (context.Context, *Admin, Rehearsal) {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	cluster.ControlKey(int16(kmsg.Produce), func(request kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		response := request.ResponseKind().(*kmsg.ProduceResponse)
		response.ThrottleMillis = throttleMs
		p := kmsg.NewProduceResponseTopicPartition()
		if code != nil {
			p.ErrorCode = code.Code
		}
		response.Topics = []kmsg.ProduceResponseTopic{{Topic: "t", Partitions: []kmsg.ProduceResponseTopicPartition{p}}}
		return response, nil, true
	})
	ctx := t.Context()
	a, err := New(ctx, cluster.ListenAddrs())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	if err := a.CreateTopic(ctx, "t", nil); err != nil {
		t.Fatal(err)
	}
	return ctx, a, Rehearsal{Topic: "t", ClientID: "kgo", BaseTimestampMs: baseMs}
}

func TestRehearsalEndsAtAThrottleTime(t *testing.T) {
	ctx, a, r := answering(t, nil, 40)
	throttled := new(Throttled)
	if err := a.Produce(ctx, r, shape.NewContent(small, 1), 10, 1); !errors.As(err, &throttled) || throttled.API != "Produce" || throttled.Ms != 40 {
		t.Errorf("got %v, want a throttle time of 40 ms", err)
	}
	ctx, a, r = answering(t, nil, 0)
	if err := a.Produce(ctx, r, shape.NewContent(small, 1), 10, 1); err != nil {
		t.Errorf("no throttle time, and %v", err)
	}
}

func TestRehearsalNamesTheSetting(t *testing.T) {
	for code, want := range map[*kerr.Error]string{kerr.MessageTooLarge: "message.max.bytes", kerr.NotEnoughReplicas: "min.insync.replicas", kerr.InvalidTimestamp: "timestamp.before.max.ms"} {
		ctx, a, r := answering(t, code, 0)
		err := a.Produce(ctx, r, shape.NewContent(small, 1), 10, 1)
		if !errors.Is(err, code) || !strings.Contains(Remedy(fmt.Errorf("at work: %w", err)), want) {
			t.Errorf("%s: got %v, remedy %q", code.Message, err, Remedy(err))
		}
	}
	if got := Remedy(errors.New("something else")); got != "" {
		t.Errorf("what no setting explains has the remedy %q", got)
	}
}

func TestSettingsOfTopics(t *testing.T) {
	ctx, a := start(t)
	if err := a.CreateTopic(ctx, "t", map[string]string{"compression.type": "gzip"}); err != nil {
		t.Fatal(err)
	}
	has, err := a.TopicSettings(ctx, "t")
	if err != nil || has["compression.type"] != "gzip" || has["message.timestamp.type"] != "CreateTime" || has["min.insync.replicas"] != "1" {
		t.Errorf("%q, %v", has, err)
	}
	if _, err := a.TopicSettings(ctx, "nobody-made-it"); err == nil {
		t.Error("a topic that does not exist has settings")
	}
	if err := a.LearnSettings(ctx, "t"); err != nil {
		t.Fatal(err)
	}
	if asked := a.Settings(nil); asked["compression.type"] != "producer" || asked["message.format.version"] != "" {
		t.Errorf("asked %q: a setting that the broker doesn't list is refused with its topic", asked)
	}
}
