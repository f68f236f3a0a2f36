// Package protocolbench holds what checks the module as a whole: who may import whom, tidiness, the command line's scripts and the
// README's examples. The program is cmd/protocolbench; README.md says how to use it.
package protocolbench
