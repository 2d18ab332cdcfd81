"""Who works on the buckets of a stage: local processes or a Dask cluster."""
