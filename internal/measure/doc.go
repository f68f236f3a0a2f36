// Package measure reads clocks, counters and the host, and starts children where they can be measured. It imports nothing of ours.
//
// Linux is the platform. Elsewhere each facility that is missing answers so (-1, false, nil) and Machine names it.
package measure
