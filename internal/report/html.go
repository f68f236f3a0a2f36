package report

import (
	_ "embed"
	"html/template"
	"io"
	"strings"

	"protocolbench/internal/record"
	"protocolbench/internal/verdict"
)

//go:embed page.html.tmpl
var pageSource string

var page = template.Must(template.New("page").Funcs(template.FuncMap{"about": about, "evidence": evidenceText, "mark": mark}).Parse(pageSource))

// HTML writes report.html: one file that needs nothing else, so that it can be mailed or kept.
func HTML(w io.Writer, v verdict.Verdict, run *record.Run) error {
	return page.Execute(w, build(v, run))
}

// mark is the class of a table row that a reader should see before others.
func mark(row []string) string {
	switch word := row[len(row)-1]; {
	case word == verdict.Slower:
		return "slower"
	case strings.HasPrefix(word, "unresolv"):
		return "doubt"
	case word == wordFaster:
		return "faster"
	}
	return ""
}
