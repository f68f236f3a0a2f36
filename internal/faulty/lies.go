package faulty

import "protocolbench/internal/driver"

// What lies about its version opens the next one, and says that it is the pinned one.

func oldestFetched(o driver.Open) bool { return oldest(o) && o.API == "Fetch" }

func later(o *driver.Open) { o.Version++ }

func sayPinned(o *driver.Opened, asked driver.Open) { o.AnswerVersion = asked.Version }

// countPinned names the frames of the version that left after the pinned one.
func countPinned(s *driver.CellSnapshot, asked driver.Open) {
	for i := range s.Frames {
		if f := &s.Frames[i]; f.Key == keyFetch && int(f.Version) == asked.Version+1 {
			f.Version = int16(asked.Version)
		}
	}
}

const keyFetch = 1
