package guards

import (
	"fmt"

	"protocolbench/internal/measure"
	"protocolbench/internal/record"
)

// checkConversions asks whether the broker rewrote records for a client: then an old version would be slow because of the broker.
func checkConversions(run *record.Run, f record.FamilyRun) []Finding {
	t := newTally(Conversions, f.Family, "the broker's conversion counters were readable, this tier's control moved them, and the block did not: nothing was converted")
	broker, known := brokerOf(run, f.Tier)
	for _, b := range f.BlockRuns {
		switch {
		case f.Tier == 0:
			t.see(AllVersions, b.Where, NotApplicable, "there is no broker that could convert", nil)
		case !bracketed(b):
			t.see(AllVersions, b.Where, Blind, whyOpen, nil)
		case !known || !brokerBracketed(b) || broker.JolokiaURL == "":
			t.see(AllVersions, b.Where, Blind, "the broker's conversion counters could not be read (no Jolokia); give --jolokia, or let protocolbench start the broker", nil)
		default:
			beans := beansOf(f.API, b)
			beans.judge(t, b, conversionControl(run, f.Family, broker), broker)
		}
	}
	return t.findings()
}

// beans are the two counters of one API: of all topics, and of the block's.
type beans struct {
	api                   string
	allOpen, allClose     measure.Counter
	topicOpen, topicClose measure.Counter
}

func beansOf(api string, b record.BlockRun) beans {
	open, closing := b.Open.Broker, b.Close.Broker
	if api == fetchAPI {
		return beans{api, open.FetchConversions, closing.FetchConversions, open.TopicFetchConversions, closing.TopicFetchConversions}
	}
	return beans{api, open.ProduceConversions, closing.ProduceConversions, open.TopicProduceConversions, closing.TopicProduceConversions}
}

// judge: impossible is what control says of brokers on which this conversion does not exist.
func (c beans) judge(t *tally, b record.BlockRun, control conversionProof, broker record.Broker) {
	// A topic's bean appears with its first conversion. Whether its absence means zero is for the control to show.
	all, topic := moved(c.allOpen, c.allClose, false), moved(c.topicOpen, c.topicClose, true)
	numbers := map[string]any{"allTopics": all.by, "topic": topic.by, "topicBean": string(c.topicClose.State)}
	for name, m := range map[string]movement{"allTopicsBlind": all, "topicBlind": topic} {
		if m.blind != "" {
			numbers[name] = m.blind
		}
	}
	say := func(outcome Outcome, why string) { t.see(AllVersions, b.Where, outcome, why, numbers) }
	switch {
	case topic.blind == "" && topic.by > 0:
		say(Fail, fmt.Sprintf("the broker converted %d records of topic %s: its work, not the client's, is in these numbers; let the client send the format that the topic stores", topic.by, b.Topic))
	case all.blind == "" && all.by > 0 && broker.Provider == attachedBroker:
		say(Blind, fmt.Sprintf("the broker converted %d records of other topics: somebody else uses the cluster, so whose they were is unknown; run on one that nobody else uses", all.by))
	case all.blind == "" && all.by > 0:
		say(Fail, fmt.Sprintf("the broker converted %d records while topic %s was measured; let the client send the format that the topic stores", all.by, b.Topic))
	case control.impossible != "":
		say(NotApplicable, control.impossible)
	case all.blind != "":
		say(Blind, "the conversion counter of all topics: "+all.blind+"; unreadable is not zero")
	case topic.blind != "":
		say(Blind, "the conversion counter of topic "+b.Topic+": "+topic.blind+"; unreadable is not zero")
	case all.by < 0 || topic.by < 0:
		say(Fail, "a conversion counter ran backwards: the broker was restarted or its counters reset in the block; run again")
	case control.blind != "":
		say(Blind, control.blind)
	default:
		t.pass(AllVersions, b.Where, map[string]any{"allTopics": all.by, "topic": topic.by, "topicBean": string(c.topicClose.State), "controlMoved": control.observed})
	}
}

// conversionProof is what the tier's control showed.
type conversionProof struct {
	impossible string // why this broker cannot convert at all
	blind      string // why the counter was not shown to move
	observed   string
}

func conversionControl(run *record.Run, f record.Family, broker record.Broker) conversionProof {
	name := record.ControlRecompression
	if f.API == fetchAPI {
		name = record.ControlOldFetch
		if !broker.FetchConverts && broker.Release != "" {
			return conversionProof{impossible: "impossible on this broker: down-conversion on fetch was removed in Kafka 4.0, and this is " + broker.Release}
		}
	}
	c, ran := controlOf(run, f.Tier, name)
	what := fmt.Sprintf("the control (%s) ", name)
	switch {
	case !ran:
		return conversionProof{blind: what + "did not run, so it is not shown that a conversion would be seen; run the tier on a real broker with Jolokia"}
	case !c.Applies:
		return conversionProof{blind: what + "could not be run: " + c.Why}
	case c.Observed.State != measure.Number || c.Expected <= 0 || c.Observed.Value != c.Expected:
		return conversionProof{blind: fmt.Sprintf(what+"should have moved the counter by %d and moved it by %s: a conversion might not be seen", c.Expected, reading(c.Observed))}
	case c.TopicObserved.State != measure.Number || c.TopicObserved.Value <= 0:
		return conversionProof{blind: fmt.Sprintf(what+"did not make its topic's counter appear (%s), so an absent one doesn't mean zero", reading(c.TopicObserved))}
	}
	return conversionProof{observed: fmt.Sprintf("%s: %d of %d", name, c.Observed.Value, c.Expected)}
}

func reading(c measure.Counter) string {
	if c.State == measure.Number {
		return fmt.Sprint(c.Value)
	}
	return fmt.Sprintf("nothing readable: %s %s", c.State, c.Why)
}
