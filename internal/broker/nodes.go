package broker

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"protocolbench/internal/admin"
	"protocolbench/internal/jolokia"
	"protocolbench/internal/record"
)

// In a cluster of several brokers a request is counted by the JVM that got it: the leader of the topic's partition. So each broker's agent is asked for, and a block's
// counters are those of its topic's leader. Agents are told apart by the broker id that their JVM shows, since several brokers of one host share a host name, and
// containers have names of their own. (Adding up all brokers' counters was the alternative: it would count others' traffic of the whole cluster in.)

// nodeBean carries the broker's id as a property of its name; 1.1.0 has it as 4.4.0 does.
var nodeBean = jolokia.Attribute{MBean: "kafka.server:type=app-info,id=*", Name: "Version"}

// agents reads who is behind each URL, and wants one for every broker of the cluster.
func (b *attached) findNodes(ctx context.Context, urls []string, brokers []int) error {
	b.agents = map[int]string{}
	for _, url := range urls {
		node, clusterID, err := askNode(ctx, url)
		switch {
		case err != nil:
			return err
		case clusterID != b.row.ClusterID:
			return fmt.Errorf("the Jolokia at %s belongs to cluster %s, and the brokers at %v to %s: give the URLs of this cluster's brokers", Redacted(url), clusterID, b.addresses, b.row.ClusterID)
		case b.agents[node.ID] != "":
			return fmt.Errorf("the Jolokia agents at %s and %s both belong to broker %d: give each broker's once", Redacted(b.agents[node.ID]), Redacted(url), node.ID)
		case len(b.row.Nodes) > 0 && b.row.Nodes[0].Release != node.Release:
			return fmt.Errorf("broker %d is Kafka %s and broker %d is %s: what differs between blocks could be the broker, so attach to a cluster of one release",
				b.row.Nodes[0].ID, b.row.Nodes[0].Release, node.ID, node.Release)
		}
		b.agents[node.ID] = url
		b.row.Nodes = append(b.row.Nodes, node)
	}
	var without []string
	for _, id := range brokers {
		if b.agents[id] == "" {
			without = append(without, strconv.Itoa(id))
		}
	}
	if without != nil {
		return fmt.Errorf("broker %s of the cluster at %v has no agent among --jolokia: a topic may lie on it, and then nobody would see what it got; give all brokers' URLs, separated by commas", strings.Join(without, ", "), b.addresses)
	}
	first := b.row.Nodes[0]
	b.row.Release, b.row.Commit, b.row.StartTimeMs, b.row.JolokiaURL = first.Release, first.Commit, first.StartTimeMs, first.JolokiaURL
	b.row.VersionTags = atLeast(first.Release, 2)
	return nil
}

// askNode asks an agent which broker it is in.
func askNode(ctx context.Context, url string) (node record.Node, clusterID string, err error) {
	client := jolokia.New(url, 5*time.Second)
	if err := client.Ping(ctx); err != nil {
		return node, "", err
	}
	answers := client.Read(ctx, append([]jolokia.Attribute{nodeBean}, identityReads...))
	id, err := decodeIdentity(answers[1:])
	if err != nil {
		return node, "", fmt.Errorf("what Jolokia at %s is attached to does not answer as a Kafka broker: %w", Redacted(url), err)
	}
	beans, err := answers[0].Beans()
	if err != nil || len(beans) != 1 {
		return node, "", fmt.Errorf("the broker at Jolokia %s does not say which one of its cluster it is (%q): %v", Redacted(url), beans, err)
	}
	number, err := strconv.Atoi(jolokia.Properties(beans[0])["id"])
	if err != nil {
		return node, "", fmt.Errorf("the broker at Jolokia %s has no number for an id: %s", Redacted(url), beans[0])
	}
	return record.Node{ID: number, Release: id.release, Commit: id.commit, StartTimeMs: id.startTimeMs, JolokiaURL: Redacted(url)}, id.clusterID, nil
}

// agentsFit refuses agents that can't speak for the cluster: fewer than it has brokers, since a topic may lie on a broker that nobody reads, and its requests would be missed as if the client hadn't sent them.
func agentsFit(ctx context.Context, a *admin.Admin, addresses, urls []string) (brokers []int, err error) {
	brokers, err = a.BrokerIDs(ctx)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the broker at %v does not say who belongs to its cluster: %w", addresses, err)
	case len(urls) == 1 && len(brokers) > 1:
		return nil, fmt.Errorf("the cluster at %v has %d brokers, and Jolokia shows the JVM of one: give the URLs of all their agents (--jolokia URL,URL), or attach to a cluster of one broker, "+
			"or leave out --jolokia (then nobody can prove what arrived, and the verdict is inconclusive)", addresses, len(brokers))
	case len(urls) > len(brokers):
		return nil, fmt.Errorf("the cluster at %v has %d brokers, and %d Jolokia URLs were given: give each broker's once", addresses, len(brokers), len(urls))
	}
	slices.Sort(brokers)
	return brokers, nil
}
