"""The descriptions of single kinds: the facts of domain reference §2 as fields, and what they say of them."""
