"""What is known of each language and format: its syntax, its declarations and the facts read from them."""
