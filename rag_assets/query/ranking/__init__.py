"""From the candidates of both searches to one order: files first, then the sections within them.

`asking` says what kind of question it is and so which weights count; `file_names`, `side_code` and `history` are what a
file gains or loses beside its scores; `files` puts it together. Every number says what measured it; all of them were
chosen together on four repositories, never for one, and checked by leaving out each in turn.
"""
