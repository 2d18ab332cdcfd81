"""Source archives as snapshots."""
