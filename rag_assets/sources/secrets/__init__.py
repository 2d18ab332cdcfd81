"""Finding and masking credentials before a text is stored."""
