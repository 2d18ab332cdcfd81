"""The application that answers over HTTP: routes for programs, `/mcp` for agents, the page for people."""
