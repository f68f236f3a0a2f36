package cli

import (
	"fmt"
	"slices"
	"strings"
)

const envPrefix = "PROTOCOL_BENCH_"

// Variables that have no flag, because they change nothing that is measured.
const (
	envCache = envPrefix + "CACHE" // folder of broker jars
	envLock  = envPrefix + "LOCK"  // lock file: one run per host
)

// environment is what the process was given as PROTOCOL_BENCH_*. An empty value counts as not set.
type environment map[string]string

func readEnvironment(environ []string) environment {
	env := environment{}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, envPrefix) && value != "" {
			env[name] = value
		}
	}
	return env
}

// envName is a flag's name in the environment.
func envName(flag string) string {
	if flag == "broker" { // it takes several addresses
		return envPrefix + "BROKERS"
	}
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", ""))
}

// knownVariables are the names of all settings, whichever command has them.
func knownVariables() []string {
	names := []string{envCache, envLock}
	for _, s := range settings {
		names = append(names, envName(s.flag))
	}
	slices.Sort(names)
	return names
}

// unknown gives one fault for each variable that nothing reads: a misspelt setting must not be a default in silence.
func (e environment) unknown() []string {
	known := knownVariables()
	var faults []string
	for name := range e {
		if !slices.Contains(known, name) {
			faults = append(faults, fmt.Sprintf("unknown variable %s", name))
		}
	}
	slices.Sort(faults)
	if faults != nil {
		faults = append(faults, "the known ones are "+strings.Join(known, ", "))
	}
	return faults
}
