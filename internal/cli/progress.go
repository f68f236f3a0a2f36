package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// every is how often a progress line is printed where there is no terminal to draw a bar on.
const every = 10 * time.Second

// progress shows how far a run is: a bar on a terminal, a line now and then elsewhere. Nothing here runs by itself (no ticker, no spinner):
// it prints only when it is called, and that is between blocks.
type progress struct {
	mu       sync.Mutex
	out      io.Writer
	heading  string // printed before the first line; a run that fails before there is one says nothing but its error
	now      func() time.Time
	bar      *progressbar.ProgressBar // nil: no terminal
	terminal bool
	started  time.Time
	printed  time.Time // the last line
	total    time.Duration
	done     time.Duration
	text     string
}

func newProgress(out io.Writer, now func() time.Time) *progress {
	p := &progress{out: out, now: now}
	if file, ok := out.(*os.File); ok {
		p.terminal = term.IsTerminal(int(file.Fd()))
	}
	return p
}

// Expect prints the expected time and starts the count.
func (p *progress) Expect(total time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total, p.started = total, p.now()
	p.printed = p.started
	p.line("expected time: about " + minutes(total))
	if p.terminal {
		p.bar = progressbar.NewOptions64(max(1, total.Milliseconds()),
			progressbar.OptionSetWriter(p.out), progressbar.OptionSetWidth(24), progressbar.OptionUseANSICodes(true),
			progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false), progressbar.OptionClearOnFinish())
	}
}

// Step adds done to what is behind; text, where it isn't empty, says what comes now.
func (p *progress) Step(done time.Duration, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += done
	if text != "" {
		p.text = text
	}
	if p.bar != nil {
		p.bar.Describe(p.text + ", " + minutes(p.left()) + " left")
		p.bar.Set64(min(p.done, p.total).Milliseconds())
		return
	}
	if now := p.now(); now.Sub(p.printed) >= every {
		p.printed = now
		p.line(fmt.Sprintf("%3.0f %%, about %s left: %s", p.share()*100, minutes(p.left()), p.text))
	}
}

// Say prints a line of its own.
func (p *progress) Say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line(text)
}

// close takes the bar away.
func (p *progress) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		p.bar.Clear()
		p.bar = nil
	}
}

func (p *progress) line(text string) {
	if p.bar != nil {
		p.bar.Clear()
	}
	if p.heading != "" {
		fmt.Fprintln(p.out, p.heading)
		p.heading = ""
	}
	fmt.Fprintln(p.out, text)
}

func (p *progress) share() float64 {
	if p.total <= 0 {
		return 0
	}
	return min(1, float64(p.done)/float64(p.total))
}

// left is the rest of the expected time at the pace so far. In the first twentieth the pace is start-up, not measuring.
func (p *progress) left() time.Duration {
	rest := max(0, p.total-p.done)
	if p.share() < 0.05 {
		return rest
	}
	pace := float64(p.now().Sub(p.started)) / float64(p.done)
	return time.Duration(float64(rest) * pace)
}

// minutes prints a duration as a person says it.
func minutes(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%d s", int(d.Round(time.Second).Seconds()))
	}
	d = d.Round(time.Second)
	return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
}
