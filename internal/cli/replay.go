package cli

import (
	"strconv"
	"strings"
)

// script is how a run is repeated from any checkout; it builds first, and keeps the exit code.
const script = "./scripts/run-protocol-load-test.sh"

// replay is the command that repeats a run: everything that differs from the defaults, wherever it was said, and the seed, also a drawn one.
func (c choices) replay(seed uint64) string {
	words := []string{script}
	if tier := c["tier"]; tier.isSet() {
		words = append(words, tier.text)
	}
	for _, s := range settings {
		g := c[s.flag]
		switch {
		case g == nil || s.flag == "tier":
		case s.flag == "seed":
			words = append(words, "--seed", strconv.FormatUint(seed, 10))
		case g.isSet() && g.text != s.fallback:
			words = append(words, "--"+s.flag, quote(g.text))
		}
	}
	return strings.Join(words, " ")
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
