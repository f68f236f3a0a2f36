package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
)

// walk finds the rules in a function: words that accuse, and grounds that are put down.
func (p *mutatedPackage) walk(body ast.Node) {
	passive := map[ast.Node]bool{} // words that are only compared with, or looked up by
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			passive[n.X], passive[n.Y] = true, true
		case *ast.CaseClause:
			for _, e := range n.List {
				passive[e] = true
			}
		case *ast.IndexExpr:
			passive[n.Index] = true
		case *ast.KeyValueExpr:
			passive[n.Key] = true
		case *ast.SelectorExpr:
			passive[n.Sel] = true // a word of another package
			return true
		case *ast.RangeStmt:
			if list, ok := n.X.(*ast.CompositeLit); ok {
				for _, e := range list.Elts {
					passive[e] = true
				}
			}
		case *ast.AssignStmt:
			p.ground(n)
			p.listed(n)
		case *ast.ExprStmt:
			p.put(n)
		case *ast.Ident:
			p.word(n, passive[n])
		}
		return true
	})
}

// word makes a mutant of a word that accuses.
func (p *mutatedPackage) word(n *ast.Ident, isPassive bool) {
	harmless, ok := weaker[p.name][n.Name]
	if !ok || isPassive {
		return
	}
	number := p.add(n.Pos(), n.Name)
	p.insert(n.Pos(), fmt.Sprintf("unlessMutant(%q, ", number))
	p.insert(n.End(), ", "+harmless+")")
}

// listed makes a mutant of `list = append(list, ...)`: a doubt or a fault of the run is put down.
func (p *mutatedPackage) listed(n *ast.AssignStmt) {
	list, ok := n.Lhs[0].(*ast.Ident)
	if !ok || n.Tok != token.ASSIGN || len(n.Lhs) != 1 || p.name != "verdict" || !slices.Contains(lists, list.Name) || !slices.Contains(deciding, p.function) {
		return
	}
	number := p.add(n.Pos(), list.Name)
	p.insert(n.Pos(), fmt.Sprintf("if !isMutant(%q) { ", number))
	p.insert(n.End(), " }")
}

// put makes a mutant of `put(...)`, with which the run's verdict takes up what fails it.
func (p *mutatedPackage) put(n *ast.ExprStmt) {
	call, ok := n.X.(*ast.CallExpr)
	if !ok || p.name != "verdict" || !slices.Contains(deciding, p.function) {
		return
	}
	if name, ok := call.Fun.(*ast.Ident); !ok || name.Name != "put" {
		return
	}
	number := p.add(n.Pos(), "put")
	p.insert(n.Pos(), fmt.Sprintf("if !isMutant(%q) { ", number))
	p.insert(n.End(), " }")
}

// ground makes a mutant of `x.spoilt = append(x.spoilt, ...)` and the like.
func (p *mutatedPackage) ground(n *ast.AssignStmt) {
	if n.Tok != token.ASSIGN || len(n.Lhs) != 1 {
		return
	}
	field, ok := n.Lhs[0].(*ast.SelectorExpr)
	if !ok || !slices.Contains(grounds, field.Sel.Name) || p.name != "verdict" {
		return
	}
	number := p.add(n.Pos(), field.Sel.Name)
	p.insert(n.Pos(), fmt.Sprintf("if !isMutant(%q) { ", number))
	p.insert(n.End(), " }")
}
