"""The index where people work: tools for agents (MCP), routes for programs (HTTP), a page for people.

All three hand the same requests (`requests`) to the same operations (`operations`), which see what the caller may see
(`access`) of indexes that are opened once and shared (`index_pool`).
"""
