package tiers

import (
	"fmt"
	"io"
	"math"
	"os"
	"path"
	"path/filepath"
	"strings"

	"protocolbench/internal/cpuprofile"
	"protocolbench/internal/driver"
	"protocolbench/internal/record"
)

const (
	topLines  = 5  // in the record and the report
	textLines = 40 // in the file
)

// writeProfiles puts two versions' profiles, their difference and what it says beside the record, and their names into the row.
func (s *session) writeProfiles(row *record.Profile, sides [2][]driver.Profiled, f *familyState) error {
	// A folder for each pair: several may have the reference.
	folder := path.Join("profiles", strings.ReplaceAll(f.name(), "/", "-"), fileName(row.Of)+"-against-"+fileName(row.Against))
	if err := os.MkdirAll(filepath.Join(s.dir, filepath.FromSlash(folder)), 0o755); err != nil {
		return err
	}
	var compared [2]cpuprofile.Side
	for i, side := range []*record.ProfileSide{&row.Of, &row.Against} {
		var parts [][]byte
		for _, part := range sides[i] {
			parts = append(parts, part.Pprof)
			side.Requests, side.Records, side.CPUNs = side.Requests+part.Requests, side.Records+part.Records, side.CPUNs+part.CPUNs
		}
		merged, err := cpuprofile.Merge(parts, f.mode == driver.ModeGC)
		if err != nil {
			return err
		}
		units := side.Records
		if f.shape.Polls() {
			units = side.Requests
		}
		compared[i] = cpuprofile.Side{Profile: merged, Units: units, CPUNs: side.CPUNs}
		side.Samples = cpuprofile.Samples(merged)
		side.File = path.Join(folder, fileName(*side)+".pprof")
		if err := s.beside(side.File, func(w io.Writer) error { return cpuprofile.Write(w, merged) }); err != nil {
			return err
		}
	}
	difference, err := cpuprofile.Difference(compared[0], compared[1])
	if err != nil {
		return err
	}
	row.Difference, row.Text = path.Join(folder, "difference.pprof"), path.Join(folder, "difference.txt")
	if err := s.beside(row.Difference, func(w io.Writer) error { return cpuprofile.Write(w, difference) }); err != nil {
		return err
	}
	lines := cpuprofile.Lines(compared[0], compared[1])
	for _, l := range lines[:min(topLines, len(lines))] {
		row.Top = append(row.Top, record.ProfileLine{Function: l.Function, Ns: finite(l.FlatNs), AgainstNs: finite(l.AgainstFlatNs), Errors: finite(l.Errors)})
	}
	unit := "record"
	if f.shape.Polls() {
		unit = "request"
	}
	return s.beside(row.Text, func(w io.Writer) error { return writeText(w, *row, lines, unit) })
}

func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}

func fileName(side record.ProfileSide) string {
	name := fmt.Sprintf("v%d", side.Version)
	if side.Build != "" {
		name += "-" + side.Build
	}
	return name
}

// beside writes a file below the record's folder.
func (s *session) beside(name string, write func(io.Writer) error) error {
	file, err := os.Create(filepath.Join(s.dir, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	if err := write(file); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

func writeText(w io.Writer, row record.Profile, lines []cpuprofile.Line, unit string) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s: CPU profile of %s (%s)\n", row.Family, row.Title(), row.Why)
	for _, side := range []record.ProfileSide{row.Of, row.Against} {
		fmt.Fprintf(&text, "%s: %d requests, %d records, %.2f s of CPU, %d samples, in %s\n", fileName(side), side.Requests, side.Records, float64(side.CPUNs)/1e9, side.Samples, path.Base(side.File))
	}
	fmt.Fprintf(&text, `
ns per %s, the largest differences of a function's own code first. "errors" is how many standard errors the difference is from none, by the counts of samples; below 3 or so it is noise.
No verdict stands on a profile: these batches are not the ones that were compared. %s has the difference with its stacks (go tool pprof -top, or -http).

%10s %10s %10s %7s %10s %10s  function
%10s %10s %10s %7s %10s %10s
`, unit, path.Base(row.Difference), "difference", fileName(row.Of), fileName(row.Against), "errors", "whole", "whole", "", "own", "own", "", fileName(row.Of), fileName(row.Against))
	for _, l := range lines[:min(textLines, len(lines))] {
		fmt.Fprintf(&text, "%+10.1f %10.1f %10.1f %+7.1f %10.1f %10.1f  %s\n", l.FlatDifferenceNs(), l.FlatNs, l.AgainstFlatNs, l.Errors, l.WholeNs, l.AgainstWholeNs, l.Function)
	}
	_, err := io.WriteString(w, text.String())
	return err
}
