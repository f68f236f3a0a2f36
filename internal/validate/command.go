package validate

import (
	"flag"
	"fmt"
	"io"
)

const usage = `usage: validate simulated [--quick] [--runs N] [--families N] [--seed S]
       validate records DIR...

simulated judges made-up records, of which the truth is known. records judges recorded runs, of equal versions or with slowdowns that were planted
(protocolbench run --plant), and says what they show of the tool itself.
`

// Exit codes.
const (
	exitKept   = 0
	exitBroken = 1 // a promise was not kept
	exitUsage  = 2
)

// Command is the command line of cmd/validate.
func Command(args []string, stdout, stderr io.Writer) (exitCode int) {
	refuse := func(why string) int {
		fmt.Fprintf(stderr, "validate: %s\n%s", why, usage)
		return exitUsage
	}
	if len(args) == 0 {
		return refuse("say what to validate")
	}
	switch args[0] {
	case "simulated":
		o, err := optionsOf(args[1:])
		if err != nil {
			return refuse(err.Error())
		}
		if !Simulated(stdout, o) {
			return exitBroken
		}
		return exitKept
	case "records":
		if len(args) == 1 {
			return refuse("name the folders of recorded runs, each with its run.jsonl")
		}
		if err := Records(stdout, args[1:]); err != nil {
			return refuse(err.Error())
		}
		return exitKept
	}
	return refuse(fmt.Sprintf("unknown word %q", args[0]))
}

func optionsOf(args []string) (Options, error) {
	flags := flag.NewFlagSet("simulated", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	quick := flags.Bool("quick", false, "")
	runs := flags.Int("runs", 0, "")
	families := flags.Int("families", 0, "")
	seedValue := flags.Uint64("seed", Full.Seed, "")
	if err := flags.Parse(args); err != nil {
		return Options{}, err
	}
	o := Full
	if *quick {
		o = Small
	}
	if *runs > 0 {
		o.Runs = *runs
	}
	if *families > 0 {
		o.Families = *families
	}
	o.Seed = *seedValue
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("%q is no flag", flags.Arg(0))
	case *runs < 0 || *families < 0:
		return o, fmt.Errorf("--runs and --families are numbers above 0")
	}
	return o, nil
}
