"""Languages without a grammar here: declarations are found by how the lines that begin them look, as ctags does."""
