"""Graphs that others made, in our key space: RoslynIndexer artifacts and SCIP indexes.

`artifact_files` reads a folder, an archive or a single file (the only I/O here). `roslyn` and `scip` make an
`ImportedGraph` of the files, matched against what the label itself declares, and `merge` joins that with the built-in
graph.
"""
