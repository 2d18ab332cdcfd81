"""The embedding model of the package: a table of vectors, one for each word or piece of a word, trained on code."""
