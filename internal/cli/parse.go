package cli

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"protocolbench/compose"
	"protocolbench/internal/broker"
	"protocolbench/tiers"
)

// parseTiers reads --tier.
func parseTiers(text string) ([]int, error) {
	switch text {
	case "all":
		return []int{0, 1, 2}, nil
	case "0", "1", "2":
		return []int{int(text[0] - '0')}, nil
	}
	return nil, fmt.Errorf("unknown tier %q; there are all, 0, 1 and 2", text)
}

// parseSwitch reads yes or no.
func parseSwitch(text string) (bool, error) {
	yes, err := strconv.ParseBool(text)
	if err != nil {
		return false, fmt.Errorf("%q is neither true nor false", text)
	}
	return yes, nil
}

// parseMargin reads "3%" and "0.03" alike. A bare "3" is refused, since it would be 300 %.
func parseMargin(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	value, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		value /= 100
	}
	if err != nil || !(value > 0 && value < 1) {
		return 0, fmt.Errorf("margin %q is not between 0 and 100 %%; give it as 3%% or 0.03", text)
	}
	return value, nil
}

// parsePlants reads tier0/fetch@9=3%.
func parsePlants(items []string) ([]tiers.Plant, error) {
	var plants []tiers.Plant
	for _, item := range items {
		families, rest, hasVersion := strings.Cut(item, "@")
		// family names have equal signs, versions have none
		number, share, hasShare := strings.Cut(rest, "=")
		version, err := parseVersion(number)
		part, errShare := parseMargin(share)
		if !hasVersion || !hasShare || families == "" || err != nil || errShare != nil {
			return nil, fmt.Errorf("plant %q can't be read; give it as FAMILIES@VERSION=SHARE, e.g. tier0/fetch@9=3%%", item)
		}
		plants = append(plants, tiers.Plant{Families: families, Version: version, Part: part})
	}
	return plants, nil
}

// parseProfiled reads tier0/fetch/topics=100/bare@13; without a version it is the dearest.
func parseProfiled(items []string) ([]tiers.Profiled, error) {
	var list []tiers.Profiled
	for _, item := range items {
		family, number, hasVersion := strings.Cut(item, "@")
		version := tiers.Dearest
		var err error
		if hasVersion {
			version, err = parseVersion(number)
		}
		if family == "" || err != nil {
			return nil, fmt.Errorf("profile %q can't be read; give it as FAMILY or FAMILY@VERSION, e.g. tier0/fetch/topics=100/bare@13", item)
		}
		list = append(list, tiers.Profiled{Family: family, Version: version})
	}
	return list, nil
}

// parseBroker reads --broker. A word that is no way of having a broker is not taken for a host.
func parseBroker(text string) (string, error) {
	if text == "" || text == broker.ProviderJVM || text == broker.ProviderEmbedded {
		return text, nil
	}
	for address := range strings.SplitSeq(text, ",") {
		host, port, err := net.SplitHostPort(address)
		if number, portErr := strconv.ParseUint(port, 10, 16); err != nil || portErr != nil || number == 0 || host == "" {
			return "", fmt.Errorf("unknown broker %q; there are jvm, embedded, and HOST:PORT[,HOST:PORT] of a cluster that you run", text)
		}
	}
	return text, nil
}

// parseJolokia reads the URL of an agent, or those of a cluster's brokers.
func parseJolokia(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	for one := range strings.SplitSeq(text, ",") {
		parsed, err := url.Parse(one)
		if err != nil || (parsed.Scheme != "http" && parsed.Scheme != "https") || parsed.Host == "" {
			return "", errors.New("this is no URL of a Jolokia agent; give it as http://HOST:8778/jolokia, and those of several brokers separated by commas") // not repeated: it may have a password
		}
	}
	return text, nil
}

// parseRelease reads a Kafka release of the kind that a tier is about.
func parseRelease(text string, kind compose.Kind) (string, error) {
	release, err := compose.ParseRelease(text)
	switch {
	case err != nil:
		return "", err
	case release.Kind != kind && kind == compose.KRaft:
		return "", fmt.Errorf("tier 1 is about a modern broker: give 4.0.0 or later, not %s", text)
	case release.Kind != kind:
		return "", fmt.Errorf("tier 2 is about the oldest broker that the client claims to support: give %s, not %s", compose.LegacyRelease, text)
	}
	return release.Number, nil
}

// parseVersions reads fetch=4-18 and produce=13.
func parseVersions(items []string) (map[string][2]int, error) {
	var versions map[string][2]int
	for _, item := range items {
		api, text, ok := strings.Cut(item, "=")
		api = strings.ToLower(strings.TrimSpace(api))
		low, high, isRange := strings.Cut(text, "-")
		if !isRange {
			high = low
		}
		first, errLow := parseVersion(low)
		last, errHigh := parseVersion(high)
		switch {
		case !ok || errLow != nil || errHigh != nil || first > last:
			return nil, fmt.Errorf("versions %q can't be read; give them as fetch=4-18 or produce=13", item)
		case api != "fetch" && api != "produce":
			return nil, fmt.Errorf("versions of %q are not measured; there are fetch and produce", api)
		}
		if _, twice := versions[api]; twice {
			return nil, fmt.Errorf("versions of %s were given twice", api)
		}
		if versions == nil {
			versions = map[string][2]int{}
		}
		versions[api] = [2]int{first, last}
	}
	return versions, nil
}

// parseVersion reads 4 or v4. Kafka's versions are 16-bit numbers.
func parseVersion(text string) (int, error) {
	text = strings.TrimPrefix(strings.TrimSpace(text), "v")
	n, err := strconv.ParseUint(text, 10, 15)
	return int(n), err
}
