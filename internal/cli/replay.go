package cli

import (
	"strconv"
	"strings"

	"protocolbench/internal/broker"
)

// script is how a run is repeated from any checkout; it builds first, and keeps the exit code.
const script = "./scripts/run-protocol-load-test.sh"

// replay is the command that repeats a run: everything that differs from the defaults, wherever it was said, and the seed, also a drawn one.
// It goes into records and reports, so it leaves a password out, and says so in a comment of the shell.
func (c choices) replay(seed uint64) string {
	words := []string{script}
	note := ""
	if tier := c["tier"]; tier != nil && tier.isSet() {
		words = append(words, tier.text)
	}
	for _, s := range settings {
		g := c[s.flag]
		switch {
		case g == nil || s.flag == "tier":
		case s.flag == "seed":
			words = append(words, "--seed", strconv.FormatUint(seed, 10))
		case s.flag == "jolokia" && g.isSet():
			shown := broker.Redacted(g.text)
			if shown != g.text {
				note = "  # put the password back in place of ***"
			}
			words = append(words, "--jolokia", quote(shown))
		case s.isSwitch:
			if yes, _ := parseSwitch(g.text); yes {
				words = append(words, "--"+s.flag)
			}
		case g.isSet() && g.text != s.fallback:
			words = append(words, "--"+s.flag, quote(g.text))
		}
	}
	return strings.Join(words, " ") + note
}

// quote makes one word of the shell out of any text.
func quote(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,%@+", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
