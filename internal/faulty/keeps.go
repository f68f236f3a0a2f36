package faulty

import "protocolbench/internal/driver"

// KeepsFromV7 keeps what a response of 4 KiB would be, for each request, from Fetch v7 on: a fault that came with one version and stayed.
const (
	KeepsFromV7   = "keeps-from-fetch-v7"
	keepsFrom     = 7
	responseBytes = 4 << 10
)

func keepsFromV7() fault {
	return fault{name: KeepsFromV7, wrong: func(o driver.Open) bool { return o.API == "Fetch" && o.Version >= keepsFrom },
		run: func() { kept = append(kept, make([]byte, responseBytes)) }}
}
