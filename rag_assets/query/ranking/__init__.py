"""From the candidates of both searches to one order: files first, then the sections within them.

`asking` says what kind of question it is and so which weights count; `file_names`, `past` and `side_code` are what a
file gains or loses beside its scores, gathered by `evidence`; `files` puts it together. Every number says what measured
it; all of them were chosen together, never for one repository, and checked by leaving out each in turn.
"""
