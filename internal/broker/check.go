package broker

import "context"

// CheckJVM finds out whether StartJVM would have what it needs, and fetches the jars if they aren't there yet: before a run, so that a missing Java isn't
// noticed after the tier that needs none. Its errors are those of StartJVM.
func CheckJVM(ctx context.Context, o JVMOptions) error {
	_, err := prepare(ctx, o)
	return err
}
