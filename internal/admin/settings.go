package admin

import (
	"context"
	"fmt"
	"maps"
	"strconv"

	"github.com/twmb/franz-go/pkg/kadm"
)

// ownSettings are given to every topic that is created here, so that a cluster's own defaults don't change what is measured. All names are known
// to every supported broker: 1.1.0 refuses a topic with an unknown one.
func ownSettings() map[string]string {
	return map[string]string{
		"cleanup.policy":         "delete",
		"compression.type":       "producer",   // else the broker compresses again, and the records that it stores aren't those that were sent
		"max.message.bytes":      "1048588",    // Kafka's own default; the largest batch, of 1,000 records, has a tenth of it
		"message.timestamp.type": "CreateTime", // else the broker replaces the timestamps, which are hashed
		"min.insync.replicas":    "1",          // a topic has one replica
		"retention.bytes":        "-1",
		"retention.ms":           "-1",
		"segment.bytes":          "1073741824", // Kafka's own default
		"segment.ms":             "604800000",  // and here
	}
}

// listedSettings are given to a topic where the broker lists them among a topic's: some came late, and some are gone from 4.0 on.
func listedSettings() map[string]string {
	const never = "9223372036854775807"
	return map[string]string{
		"flush.messages":                      never, // else each so many messages wait for the disk
		"flush.ms":                            never,
		"message.downconversion.enable":       "true",
		"message.format.version":              "0.11.0-IV2", // format v2: an older one makes the broker convert
		"message.timestamp.after.max.ms":      never,        // else records are refused for their timestamps
		"message.timestamp.before.max.ms":     never,
		"message.timestamp.difference.max.ms": never,
		"segment.jitter.ms":                   "0",
	}
}

// Settings are what a topic of this run is asked for: its own, what the broker is known to list, and more, which goes before both.
func (a *Admin) Settings(more map[string]string) map[string]string {
	asked := ownSettings()
	if listed := a.listed.Load(); listed != nil {
		maps.Copy(asked, *listed)
	}
	maps.Copy(asked, more)
	return asked
}

// LearnSettings reads the settings of a topic, and from then on gives new ones also those that were listed here.
func (a *Admin) LearnSettings(ctx context.Context, topic string) error {
	has, err := a.TopicSettings(ctx, topic)
	if err != nil {
		return err
	}
	listed := listedSettings()
	maps.DeleteFunc(listed, func(name, _ string) bool { _, there := has[name]; return !there })
	a.listed.Store(&listed)
	return nil
}

// TopicSettings are the settings that a topic has by the broker's own word, its defaults among them.
func (a *Admin) TopicSettings(ctx context.Context, topic string) (map[string]string, error) {
	described, err := a.kadm.DescribeTopicConfigs(ctx, topic)
	return settingsOf("topic "+topic, described, err)
}

// BrokerSettings are those of one broker.
func (a *Admin) BrokerSettings(ctx context.Context, id int) (map[string]string, error) {
	described, err := a.kadm.DescribeBrokerConfigs(ctx, int32(id))
	return settingsOf(fmt.Sprintf("broker %d", id), described, err)
}

func settingsOf(what string, described kadm.ResourceConfigs, err error) (map[string]string, error) {
	if err == nil && len(described) != 1 {
		err = fmt.Errorf("%d answers instead of one", len(described))
	}
	if err == nil {
		err = described[0].Err
	}
	if err != nil {
		return nil, fmt.Errorf("the settings of %s can't be read (DescribeConfigs): %w", what, err)
	}
	settings := map[string]string{}
	for _, c := range described[0].Configs {
		if c.Value != nil {
			settings[c.Key] = *c.Value
		}
	}
	return settings, nil
}

// Quota is one limit that the cluster sets to clients.
type Quota struct {
	Name   string // consumer_byte_rate and such
	Value  float64
	Entity string // whom it is for, by Kafka's names
	// ClientID and User are the one client id and the one user that it is for; "" where it is for any.
	ClientID, User string
}

func (q Quota) String() string {
	return q.Name + "=" + strconv.FormatFloat(q.Value, 'f', -1, 64) + " of " + q.Entity
}

// Quotas lists all client quotas of the cluster. Brokers before 2.6 can't be asked, and a cluster may refuse to tell: that is an error.
func (a *Admin) Quotas(ctx context.Context) ([]Quota, error) {
	described, err := a.kadm.DescribeClientQuotas(ctx, false, nil)
	if err != nil {
		return nil, fmt.Errorf("the client quotas can't be listed (DescribeClientQuotas): %w", err)
	}
	var quotas []Quota
	for _, d := range described {
		of := map[string]string{}
		for _, c := range d.Entity {
			if c.Name != nil {
				of[c.Type] = *c.Name
			}
		}
		for _, v := range d.Values {
			quotas = append(quotas, Quota{Name: v.Key, Value: v.Value, Entity: d.Entity.String(), ClientID: of["client-id"], User: of["user"]})
		}
	}
	return quotas, nil
}
