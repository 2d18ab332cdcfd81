"""Answers from an index: evidence, quotes or a model, checked citations, and a refusal where there is too little."""
