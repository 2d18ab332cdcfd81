"""One file per asset, in the order of the flow."""
