"""Documents: Markdown, reStructuredText, RESX, transcripts, pages, plain text."""
