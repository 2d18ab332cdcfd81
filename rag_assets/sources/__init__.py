"""Turns repositories into texts: open a snapshot, discover its files, decode and redact them."""
