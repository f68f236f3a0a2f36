package build

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// revision is what git says of a checkout, where there is git and where it says anything: for people, nothing is decided by it. A folder that
// git doesn't track, within a repository of something else, has none.
func revision(ctx context.Context, env []string, dir string) string {
	if _, ok := git(ctx, env, dir, "ls-files", "--error-unmatch", "go.mod"); !ok {
		return ""
	}
	described, _ := git(ctx, env, dir, "describe", "--always", "--dirty", "--abbrev=12")
	return described
}

// git asks without leaving anything behind: no refreshed index, no daemon that watches the folder.
func git(ctx context.Context, env []string, dir string, args ...string) (string, bool) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir, "-c", "core.fsmonitor=false"}, args...)...)
	cmd.WaitDelay = time.Second
	// Within a git hook GIT_DIR and its like name the hook's repository, and go before the folder.
	cmd.Env = slices.DeleteFunc(slices.Clone(env), func(entry string) bool { return strings.HasPrefix(entry, "GIT_") })
	cmd.Env = append(cmd.Env, "GIT_OPTIONAL_LOCKS=0")
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err == nil
}
