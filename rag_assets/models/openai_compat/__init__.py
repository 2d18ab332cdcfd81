"""Model servers that speak the protocol of OpenAI: chat, structured output, embeddings, and `/rerank` beside them.

The `openai` package is the client; the first request loads it, and opening a service does not.
"""
