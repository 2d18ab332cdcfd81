"""How the code of a product is structured, for those who ask: folders, declarations, ways and measures."""
