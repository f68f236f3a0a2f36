package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"protocolbench/internal/record"
	"protocolbench/pin"
)

// takesTimeout is how long a broker has for its answer to one request that asks for nothing. It takes milliseconds.
const takesTimeout = 3 * time.Second

// Takes asks the broker, on a bare connection and by a request that carries nothing, whether it takes a version of Produce or Fetch that it advertises. Kafka 4.x advertises
// Produce v0-v2 and closes the connection on one. It is asked by this program itself: were it left to the client under test, one that breaks its own connection would
// look like a broker that refuses. A connection that ends may have ended for another reason, so it has to end twice.
func (a *Admin) Takes(ctx context.Context, key int16, version int, topic string) (pin.Took, error) {
	request := emptyRequest(key, version)
	if request == nil {
		return pin.Took{What: record.TookUnasked, Why: fmt.Sprintf("this program can't write %s v%d", kmsg.NameForKey(key), version)}, nil
	}
	took, err := a.takes(ctx, request, topic)
	if err == nil && took.What == record.TookClosed {
		return a.takes(ctx, request, topic)
	}
	return took, err
}

func (a *Admin) takes(ctx context.Context, request kmsg.Request, topic string) (pin.Took, error) {
	c, err := a.dialLeader(ctx, topic)
	if err != nil {
		return pin.Took{}, err
	}
	defer c.close()
	if err := c.net.SetDeadline(time.Now().Add(takesTimeout)); err != nil {
		return pin.Took{}, err
	}
	name := fmt.Sprintf("%s v%d", kmsg.NameForKey(request.Key()), request.GetVersion())
	response := request.ResponseKind()
	err = c.ask(request, response)
	var timeout net.Error
	switch {
	case ctx.Err() != nil:
		return pin.Took{}, context.Cause(ctx)
	case err == nil:
		return answered(response), nil
	case errors.Is(err, errClosed), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return pin.Took{What: record.TookClosed, Why: "on an empty request of this program's own, twice"}, nil
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return pin.Took{What: record.TookSilent, Why: fmt.Sprintf("to an empty request of this program's own within %s", takesTimeout)}, nil
	}
	return pin.Took{}, fmt.Errorf("asking the broker whether it takes %s: %w", name, err)
}

// answered tells an answer from the refusal that some brokers give in its place.
func answered(response kmsg.Response) pin.Took {
	if fetched, ok := response.(*kmsg.FetchResponse); ok {
		if err := kerr.ErrorForCode(fetched.ErrorCode); errors.Is(err, kerr.UnsupportedVersion) {
			return pin.Took{What: record.TookError, Why: "to an empty request of this program's own"}
		}
	}
	return pin.Took{What: record.TookAnswered}
}

// emptyRequest is one without topics, which is answered and stores and fetches nothing; nil where this program can't write the version.
func emptyRequest(key int16, version int) kmsg.Request {
	var request kmsg.Request
	switch kmsg.Key(key) {
	case kmsg.Produce:
		produce := kmsg.NewPtrProduceRequest()
		produce.Acks, produce.TimeoutMillis = -1, int32(takesTimeout.Milliseconds())
		request = produce
	case kmsg.Fetch:
		fetch := kmsg.NewPtrFetchRequest()
		fetch.ReplicaID, fetch.MaxWaitMillis, fetch.MinBytes, fetch.MaxBytes, fetch.SessionEpoch = -1, 10, 0, 1<<10, -1
		request = fetch
	}
	if request == nil || version < 0 || version > int(request.MaxVersion()) {
		return nil
	}
	request.SetVersion(int16(version))
	return request
}
