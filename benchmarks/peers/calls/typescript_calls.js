// Calls of TypeScript and JavaScript as the compiler resolves them: ROOT SUBFOLDER OUT. npm install typescript@5
const ts = require('typescript'), fs = require('fs'), path = require('path')
const [root, sub, out] = [path.resolve(process.argv[2]), process.argv[3], process.argv[4]]
const files = []
const walk = (folder) => {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const name = path.join(folder, entry.name)
    if (entry.isDirectory()) { if (!['node_modules', '.git'].includes(entry.name)) walk(name) }
    else if (/\.(ts|tsx|js|mjs|cjs|jsx)$/.test(name) && !name.endsWith('.d.ts')) files.push(name)
  }
}
walk(path.join(root, sub))
const program = ts.createProgram(files, {
  allowJs: true, noEmit: true, target: 99, module: 99, moduleResolution: 100, jsx: 1, skipLibCheck: true, strict: true,
  types: [], allowImportingTsExtensions: true
})
const checker = program.getTypeChecker(), found = []
const place = (file, node) => file.getLineAndCharacterOfPosition(node.getStart()).line + 1
for (const file of program.getSourceFiles().filter((one) => files.includes(one.fileName))) {
  const visit = (node) => {
    if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
      const called = node.expression
      const name = ts.isIdentifier(called) ? called : ts.isPropertyAccessExpression(called) ? called.name : null
      if (name) {
        let symbol = checker.getSymbolAtLocation(name)
        if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol)
        const declared = symbol?.declarations ?? []
        const own = declared.filter((one) => {
          const of = one.getSourceFile().fileName
          return of.startsWith(root) && !of.includes('node_modules')
        })
        const places = own.map((one) => [path.relative(root, one.getSourceFile().fileName), place(one.getSourceFile(), one)])
        found.push([path.relative(root, file.fileName), place(file, name), name.text, places, declared.length > 0])
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
}
fs.writeFileSync(out, JSON.stringify(found))
