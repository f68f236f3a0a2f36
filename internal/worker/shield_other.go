//go:build unix && !linux

package worker

import "golang.org/x/sys/unix"

func replaceDescriptor(from, to int) error { return unix.Dup2(from, to) }
