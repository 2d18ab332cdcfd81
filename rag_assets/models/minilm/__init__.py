"""all-MiniLM-L6-v2 on onnxruntime: the model for prose and paraphrases, ten to two hundred times slower."""
