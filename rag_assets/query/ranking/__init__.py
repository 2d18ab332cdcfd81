"""From the candidates of both searches to one order: files first, then the sections within them.

`asking` says what kind of question it is and so which weights count; `file_names`, `past` and `side_code` are what a
file gains or loses beside its scores, gathered by `evidence`; `files` puts it together. Every number says what measured
it; all of them were chosen together, never for one repository, and checked by leaving out each in turn.
"""

RANKING_VERSION = 2
"""Raise it when the same question of the same index may get another order, whatever makes it: here, `query.retrieval`,
fusion, phrases, forms of words. Runs of question sets keep it: numbers of two rankings tell nothing of two indexes. A
test compares the order of a small index with the one that was written down for this version."""
