"""The dependency graph of a label: nodes and edges from its files, and walks over them."""
