"""Generations in an object store: one machine builds and publishes, others pull and serve.

{remote}/
  objects/ab/ab12…                       content, named by its sha256, compressed; shared by all labels
  labels/{label}/generations/{id}.json   what a published generation is made of
  labels/{label}/active.json             which one is served; written last
  garbage.json                           objects that nothing referenced, and since when

Rename is not atomic on object stores, a write of one object is: whoever sees a pointer sees everything behind it.
"""
