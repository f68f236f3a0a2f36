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
	count := len(families)
	var total time.Duration
	for _, f := range folded(families) {
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
	_, err = fmt.Fprintf(p.stdout, "%d families, about %s beside the brokers' start, seed %d\n", count, minutes(total), config.Seed)
	return err
}

// listedWhole is up to how many messages without records are listed one by one.
const listedWhole = 24

// folded makes one line of each group of messages where there are many.
func folded(families []tiers.Listed) []tiers.Listed {
	messages := 0
	for _, f := range families {
		if f.Group != "" {
			messages++
		}
	}
	if messages <= listedWhole {
		return families
	}
	var list []tiers.Listed
	place, count := map[string]int{}, map[string]int{}
	for _, f := range families {
		if f.Group == "" {
			list = append(list, f)
			continue
		}
		i, known := place[f.Group]
		if !known {
			i = len(list)
			place[f.Group] = i
			list = append(list, f)
			list[i].Cells, list[i].Expected = 0, 0
		}
		count[f.Group]++
		list[i].Name = fmt.Sprintf("tier%d/apis/%s/... (%d families)", f.Tier, f.Group, count[f.Group])
		list[i].Cells += f.Cells
		list[i].Expected += f.Expected
	}
	return list
}
