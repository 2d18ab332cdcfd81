"""Facts of C# that segmentation, descriptions and the graph share."""
