package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"protocolbench/internal/build"
	"protocolbench/internal/verdict"
	"protocolbench/tiers"
)

// usageError is a user's mistake: one line, exit code 2, and where the help is.
type usageError struct {
	faults []string
	help   string // the command whose help would have told
}

func (e *usageError) Error() string {
	return fmt.Sprintf("%s; see %s --help", strings.Join(e.faults, "; "), e.help)
}

func usage(command *cobra.Command, faults ...string) error {
	return &usageError{faults, command.CommandPath()}
}

// flagFault says pflag's errors in our words.
func flagFault(command *cobra.Command, err error) error {
	text := strings.Replace(err.Error(), "unknown flag: ", "unknown flag ", 1)
	return usage(command, text)
}

// noArguments refuses words after the flags.
func noArguments(command *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage(command, fmt.Sprintf("unexpected argument %q", args[0]))
	}
	return nil
}

// oneFolder wants a result folder and nothing else.
func oneFolder(command *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return usage(command, "a result folder is missing, e.g. results/latest")
	case 1:
		return nil
	}
	return usage(command, fmt.Sprintf("unexpected argument %q", args[1]))
}

// verdictError carries a verdict's exit code through cobra; the verdict has been printed.
type verdictError struct{ code int }

func (e *verdictError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

func verdictOf(code int) error {
	if code == verdict.ExitPass {
		return nil
	}
	return &verdictError{code}
}

// exitCode gives an error's exit code and the text that is still to be printed.
func exitCode(err error) (code int, text string) {
	var judged *verdictError
	var mistake *usageError
	var refused *tiers.UsageError
	var unbuildable *build.Fault
	switch {
	case err == nil:
		return verdict.ExitPass, ""
	case errors.As(err, &judged):
		return judged.code, ""
	case errors.As(err, &mistake):
		return verdict.ExitUsage, mistake.Error()
	case errors.As(err, &unbuildable):
		return verdict.ExitUsage, err.Error()
	case errors.As(err, &refused):
		return verdict.ExitUsage, refused.Error() + "; see protocolbench run --help"
	case strings.HasPrefix(err.Error(), "unknown command "):
		// cobra has no type for it
		first, _, _ := strings.Cut(err.Error(), "\n")
		return verdict.ExitUsage, strings.Replace(first, ` for "protocolbench"`, "", 1) + "; see protocolbench --help"
	}
	return verdict.ExitHarness, err.Error()
}
