"""The one partition of every asset: an index label, one repository at one ref (never a commit, never a file)."""

from __future__ import annotations

from dagster import BackfillPolicy, DynamicPartitionsDefinition

index_labels = DynamicPartitionsDefinition(name="index_label")

# One policy for the whole chain: with varying policies Dagster falls back to the minimum, and fifty labels as
# fifty runs cost fifty times the start-up of one.
one_run_for_all_labels = BackfillPolicy.single_run()
