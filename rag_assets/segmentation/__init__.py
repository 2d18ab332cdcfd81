"""Texts into segments: one per top-level symbol of a code file, one per text document (A04–A08)."""
