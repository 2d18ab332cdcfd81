"""The extractors: what one file adds to the graph."""
