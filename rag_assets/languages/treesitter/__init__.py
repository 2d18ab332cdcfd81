"""The languages that tree-sitter parses: Python, Java, Go, TypeScript and JavaScript."""
