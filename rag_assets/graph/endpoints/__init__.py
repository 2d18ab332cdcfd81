"""HTTP endpoints in the graph: which method exposes which route, and what a lambda behind a route does."""
