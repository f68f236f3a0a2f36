package synthetic

import "math"

// Machine is what a machine does over time, to whichever cell is just being measured: it drifts, and a neighbour on the other half of the core makes batches
// dearer in bursts. Lengths are in batches, of about 10 ms.
type Machine struct {
	Drift        float64 // sd of ln cost
	DriftBatches float64 // after so many batches the drift has forgotten all but 1/e of itself
	// Bursts is the share of time in bursts, drawn evenly for each fork; length and cost are drawn for each burst.
	BurstsLow, BurstsHigh   float64
	BatchesLow, BatchesHigh float64
	CostLow, CostHigh       float64 // 1.2: costs a fifth more
	Spared                  float64 // share of a burst's batches that it misses
}

// weather is the machine over one fork.
type weather struct {
	r       Source
	machine *Machine
	common  float64 // of the round, where there is no machine
	drift   float64
	share   float64
	at      float64 // batches since the fork began
	from    float64 // the present burst, or the next one
	until   float64
	cost    float64
}

// roundNoise is what the batches of a round have in common where nothing is said about the machine.
const roundNoise = 0.02

func (w World) weather(r Source) *weather {
	made := &weather{r: r, machine: w.Machine}
	if m := w.Machine; m != nil {
		made.drift = m.Drift * r.NormFloat64()
		made.share = between(r, m.BurstsLow, m.BurstsHigh)
		made.nextBurst()
		made.from -= made.until * r.Float64() // a fork begins anywhere
	}
	return made
}

func between(r Source, low, high float64) float64 { return low + (high-low)*r.Float64() }

func (m *weather) nextRound() {
	if m.machine == nil {
		m.common = roundNoise * m.r.NormFloat64()
	}
}

// nextBurst begins after a gap whose mean makes the share, with exponential gaps: bursts know nothing of each other.
func (m *weather) nextBurst() {
	length := between(m.r, m.machine.BatchesLow, m.machine.BatchesHigh)
	mean := (m.machine.BatchesLow + m.machine.BatchesHigh) / 2
	gap := math.Inf(1)
	if m.share > 0 {
		gap = -math.Log(1-m.r.Float64()) * mean * (1 - m.share) / m.share
	}
	m.from = m.until + gap
	m.until = m.from + length
	m.cost = between(m.r, m.machine.CostLow, m.machine.CostHigh)
}

// nextBatch is what the machine adds to the logarithm of the next batch's cost. A burst that begins or ends within the batch makes a part of it dearer.
func (m *weather) nextBatch() float64 {
	if m.machine == nil {
		return m.common
	}
	if m.machine.Drift > 0 {
		keeps := math.Exp(-1 / m.machine.DriftBatches)
		m.drift = keeps*m.drift + math.Sqrt(1-keeps*keeps)*m.machine.Drift*m.r.NormFloat64()
	}
	end, factor := m.at+1, 1.0
	for m.from < end {
		factor += (m.cost - 1) * max(0, min(end, m.until)-max(m.at, m.from))
		if m.until > end {
			break
		}
		m.nextBurst()
	}
	m.at = end
	if factor > 1 && m.r.Float64() < m.machine.Spared {
		factor = 1
	}
	return m.drift + math.Log(factor)
}
