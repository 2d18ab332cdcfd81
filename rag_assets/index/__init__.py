"""Everything durable: generations, tables, blobs, caches, the vector shard and the keyword statistics."""
