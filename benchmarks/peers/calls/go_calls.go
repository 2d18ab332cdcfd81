// Calls of Go as go/types resolves them: ROOT - OUT. Packages of others are not loaded: what they give is not known.
package main

import (
	"encoding/json"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
)

var (
	files    = token.NewFileSet()
	root     string
	module   string
	packages = map[string]*types.Package{}
	standard = importer.ForCompiler(files, "source", nil)
	found    [][]any
)

type loader struct{}

func (loader) Import(path string) (*types.Package, error) {
	if known, ok := packages[path]; ok {
		return known, nil
	}
	if path == module || strings.HasPrefix(path, module+"/") {
		return check(path, false), nil
	}
	if !strings.Contains(strings.Split(path, "/")[0], ".") {
		if known, err := standard.Import(path); err == nil {
			packages[path] = known
			return known, nil
		}
	}
	return empty(path), nil
}

func empty(path string) *types.Package {
	made := types.NewPackage(path, filepath.Base(path))
	made.MarkComplete()
	packages[path] = made
	return made
}

func check(path string, tests bool) *types.Package {
	folder := filepath.Join(root, strings.TrimPrefix(path, module))
	wanted := func(one os.FileInfo) bool {
		fits, _ := build.Default.MatchFile(folder, one.Name())
		return fits && (tests || !strings.HasSuffix(one.Name(), "_test.go"))
	}
	parsed, _ := parser.ParseDir(files, folder, wanted, 0)
	var result *types.Package
	for _, one := range parsed {
		var syntax []*ast.File
		for _, file := range one.Files {
			syntax = append(syntax, file)
		}
		info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
		config := types.Config{Importer: loader{}, Error: func(error) {}, FakeImportC: true}
		made, _ := config.Check(path, files, syntax, info)
		if !strings.HasSuffix(one.Name, "_test") {
			result = made
			if !tests {
				packages[path] = made
			}
		}
		for _, file := range syntax {
			if tests {
				ast.Inspect(file, func(node ast.Node) bool { record(node, info); return true })
			}
		}
	}
	if result == nil {
		return empty(path)
	}
	return result
}

func record(node ast.Node, info *types.Info) {
	call, ok := node.(*ast.CallExpr)
	if !ok {
		return
	}
	called := call.Fun
	if generic, ok := called.(*ast.IndexExpr); ok {
		called = generic.X
	}
	var name *ast.Ident
	switch one := called.(type) {
	case *ast.Ident:
		name = one
	case *ast.SelectorExpr:
		name = one.Sel
	default:
		return
	}
	meant, at, places := info.Uses[name], files.Position(name.Pos()), [][]any{}
	if function, ok := meant.(*types.Func); ok {
		if declared := files.Position(function.Origin().Pos()); strings.HasPrefix(declared.Filename, root) {
			path, _ := filepath.Rel(root, declared.Filename)
			places = append(places, []any{path, declared.Line})
		}
	}
	path, _ := filepath.Rel(root, at.Filename)
	found = append(found, []any{path, at.Line, name.Name, places, meant != nil})
}

func main() {
	root, _ = filepath.Abs(os.Args[1])
	text, _ := os.ReadFile(filepath.Join(root, "go.mod"))
	for _, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, "module ") {
			module = strings.TrimSpace(line[7:])
		}
	}
	_ = filepath.Walk(root, func(folder string, one os.FileInfo, _ error) error {
		if one == nil || !one.IsDir() {
			return nil
		}
		if own, _ := filepath.Glob(filepath.Join(folder, "*.go")); len(own) > 0 {
			path, _ := filepath.Rel(root, folder)
			check(strings.TrimSuffix(module+"/"+filepath.ToSlash(path), "/."), true)
		}
		return nil
	})
	text, _ = json.Marshal(found)
	_ = os.WriteFile(os.Args[3], text, 0o644)
}
