"""The partition of every asset is an index label: one repository at one ref, never a commit or a file. Tags name it on
runs.
"""

from __future__ import annotations

from dagster import BackfillPolicy, DynamicPartitionsDefinition

index_labels = DynamicPartitionsDefinition(name="index_label")


def partition_name() -> str:
    assert index_labels.name is not None
    return index_labels.name


# One policy for the whole chain: with varying policies Dagster falls back to the minimum, and fifty labels as
# fifty runs cost fifty times the start-up of one.
one_run_for_all_labels = BackfillPolicy.single_run()


LABEL_TAG = "rag/label"
"""The index label. `dagster.yaml` lets one run of a label at a time start."""

COMMIT_TAG = "rag/commit"
"""The full id of the commit that is indexed; set when discovery has read it, where nobody knew it before."""

TRIGGER_TAG = "rag/trigger"
"""What asked for the run: `nightly` or `commit`. Runs that people started have none."""
