"""Pipelines as files: reading, checking, merging and drawing them."""
