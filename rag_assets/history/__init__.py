"""What people asked and what they were told: conversations and the query log, and the wrapper of their database."""
