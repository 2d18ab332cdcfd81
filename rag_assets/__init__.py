"""Git repositories as a traceable retrieval index."""
