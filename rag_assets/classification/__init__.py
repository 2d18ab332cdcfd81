"""Decides the kind of a segment: ordered first-match rules from data, with evidence (domain reference §1; A09)."""
