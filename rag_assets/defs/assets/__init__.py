"""One file per asset, in the order of the flow.

None of them has `from __future__ import annotations`: Dagster compares the annotation of `context` with the class.
"""
