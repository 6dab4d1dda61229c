"""`ckvd mcp`: the index for coding agents, over the Model Context Protocol."""
