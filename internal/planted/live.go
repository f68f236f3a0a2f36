package planted

import (
	"fmt"
	"slices"

	"protocolbench/guards"
)

const (
	broker      = "pkg/kgo/broker.go"
	source      = "pkg/kgo/source.go"
	sink        = "pkg/kgo/sink.go"
	handleReq   = "func (b *broker) handleReq("
	chosen      = "req.SetVersion(ourMax)"
	handleResp  = "func (cxn *brokerCxn) handleResp("
	decoded     = "readErr := pr.resp.ReadFrom(rawResp)"
	fetched     = "tier1/fetch/size=64KiB/bare"
	produced    = "tier1/produce/records=100,acks=all/bare"
	nowSpeaking = "if pr.resp.Key() == 1 {\nplantedVersion = pr.resp.GetVersion()\n}\n{}"
	// speaking is the version of the Fetch response that is being decoded: what decodes records is told of none.
	speaking = "var plantedVersion int16"
)

var told = edit{broker, handleResp, decoded, nowSpeaking}

// live is a fault whose run on a real broker has to end so.
func live(name, words, only string, end End, declarations string, edits ...edit) Fault {
	tier := 1
	if only == alone {
		tier = 2
	}
	return Fault{Name: name, Planted: words, Only: []string{only}, Tier: tier, Ends: &end, edits: edits, declarations: declarations}
}

const alone = "tier2/fetch/size=64KiB/alone"

// found is the end of most: a guard fails about a version, and the run with it.
func found(guard string, version int, words string, also ...string) End {
	return End{Exit: 3, Said: []Saying{{guard, version, words}}, Also: also}
}

// hidden is a fault that nothing finds; why says what it would take. Its run has to show that it is still so, or this table is wrong.
func hidden(f Fault, why string) Fault {
	f.Hidden, f.Ends = why, &End{Exit: 0}
	return f
}

// LiveFaults are those that need a real broker.
func LiveFaults() []Fault {
	return slices.Concat(pinFaults(), fetchFaults(), produceFaults(), costFaults())
}

// pinFaults send another version than the one they are pinned to.
func pinFaults() []Fault {
	version := func(put string) edit { return edit{broker, handleReq, chosen, put + "\n{}"} }
	sends := func(name, words, put string, end End) Fault {
		return live(name, words, fetched, end, "", version(put))
	}
	// What reaches a batch has frames of another version there, and with them other lengths.
	others := []string{guards.Counters, guards.Data, guards.KnownTruth, guards.Completeness}
	return []Fault{
		sends("pin-ignored-v9", "the pin is ignored for Fetch v9 alone: the newest is sent", "if req.Key() == 1 && ourMax == 9 {\nourMax = 18\n}",
			found(guards.Pin, 9, "asked for Fetch v9, v18 was sent")),
		sends("pin-ignored", "the pin is ignored for all Fetch versions", "if req.Key() == 1 {\nourMax = 18\n}",
			End{Exit: 3, Said: allButNewest("asked for Fetch v%d, v18 was sent")}),
		sends("pin-downwards", "Fetch v10 is sent as v9", "if req.Key() == 1 && ourMax == 10 {\nourMax = 9\n}", found(guards.Pin, 10, "asked for Fetch v10, v9 was sent")),
		sends("pin-after-preflight", "a request that is asked for directly is right; those of the consumer's loop leave as v10 where v9 is pinned",
			"if _, loop := req.(*fetchRequest); loop && ourMax == 9 {\nourMax = 10\n}", found(guards.Pin, 9, "left at another version", others...)),
		live("pin-seldom", "one Fetch in 150 of v9 leaves as v10", fetched, found(guards.Pin, 9, "left at another version", others...), "var plantedSent int",
			version("if req.Key() == 1 && ourMax == 9 {\nif plantedSent++; plantedSent%150 == 149 {\nourMax = 10\n}\n}")),
		live("lies-about-its-version", "v10 leaves where v9 is pinned, and the answer says v9", fetched, found(guards.Pin, 9, "asked for Fetch v9, v10 was sent"), "",
			edit{broker, handleReq, "a := cxn.appendReq(req)", "lies := req.Key() == 1 && req.GetVersion() == 9\nif lies {\nreq.SetVersion(10)\n}\n{}\nif lies {\nreq.SetVersion(9)\n}"}),
		live("hidden-connection", "at v9 each response is followed by a Fetch v4 over a connection that the dialer doesn't know", fetched,
			found(guards.Pin, guards.AllVersions, "broker", others...), hiddenConnection, edit{broker, handleResp, decoded, "{}\nif pr.resp.Key() == 1 && pr.resp.GetVersion() == 9 {\nplantedAsk(cxn.conn.RemoteAddr().String())\n}"}),
		live("refuses-v9", "Fetch v9 is an error", fetched, found("compatibility", 9, "planted refusal"), "",
			edit{broker, handleReq, chosen, "if req.Key() == 1 && ourMax == 9 {\npr.promise(nil, errors.New(\"planted refusal\"))\nreturn\n}\n{}"}),
		live("hangs-at-v9", "a Fetch v9 is never sent", fetched, found("compatibility", 9, ""), "",
			edit{broker, handleReq, chosen, "if req.Key() == 1 && ourMax == 9 {\n<-pr.ctx.Done()\npr.promise(nil, pr.ctx.Err())\nreturn\n}\n{}"}),
		live("hides-v18", "it says that it has Fetch up to v17, and left alone its consumer takes v18", fetched, found(guards.Pin, guards.AllVersions, "v18"), "",
			edit{generated, "func (*FetchRequest) MaxVersion()", "return 18", "return 17"}),
		live("negotiates-an-older", "left alone it takes Fetch v4", alone, found(guards.Negotiation, guards.AllVersions, "", others...), "",
			version("if req.Key() == 1 && ourMax > 4 {\nourMax = 4\n}")),
		live("negotiates-an-older-later", "left alone, a Fetch that is asked for directly has the newest version, and the loop's have v4", alone, found(guards.Negotiation, guards.AllVersions, "", append(others, guards.Pin)...), "",
			version("if _, loop := req.(*fetchRequest); loop && ourMax > 4 {\nourMax = 4\n}")),
	}
}

const hiddenConnection = `import (
	"io"
	"net"
)

var plantedConn net.Conn

// plantedAsk sends a Fetch v4 without topics, which the broker counts and answers at once.
func plantedAsk(address string) {
	if plantedConn == nil {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			panic(err)
		}
		plantedConn = conn
	}
	plantedConn.Write([]byte{0, 0, 0, 31, 0, 1, 0, 4, 0, 0, 0, 9, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0})
	io.ReadFull(plantedConn, make([]byte, 16))
}`

// allButNewest are the words about each Fetch version that the broker takes, but for the newest.
func allButNewest(words string) []Saying {
	var all []Saying
	for v := 4; v < 18; v++ {
		all = append(all, Saying{guards.Pin, v, fmt.Sprintf(words, v)})
	}
	return all
}
