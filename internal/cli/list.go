package cli

import (
	"fmt"
	"text/tabwriter"
	"time"

	"protocolbench/tiers"
)

// list prints the families of a run.
func (p *program) list(config tiers.Config) error {
	families, err := tiers.List(config)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "family\tcells\tmargin\tdeciding\texpected")
	var total time.Duration
	for _, f := range families {
		deciding, margin := "yes", fmt.Sprintf("%.3g %%", f.Margin*100)
		if !f.Deciding {
			deciding = "no"
		}
		if f.Tier == 2 { // nothing is compared there
			margin = "-"
		}
		fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%s\n", f.Name, f.Cells, margin, deciding, minutes(f.Expected))
		total += f.Expected
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "%d families, about %s beside the brokers' start, seed %d\n", len(families), minutes(total), config.Seed)
	return err
}
