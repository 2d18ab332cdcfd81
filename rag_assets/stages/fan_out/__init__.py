"""Stages shared out: a plan makes groups of buckets, each is worked on by itself, perhaps elsewhere, and the stage
gathers. `embeddings` computes vectors in groups, `refinement` asks the language model; `exchange` is what they share.
"""
