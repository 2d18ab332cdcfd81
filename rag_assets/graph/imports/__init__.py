"""Graphs that others made, in our key space: RoslynIndexer artifacts and SCIP indexes.

`reading` takes the files from a folder, an archive or a single file (the only I/O here); `roslyn_indexer` and `scip`
make an `ImportedGraph` of them, matched against what the label itself declares (`Known`); `merging` joins that with the
built-in graph; `loading` does these steps for one repository.
"""
