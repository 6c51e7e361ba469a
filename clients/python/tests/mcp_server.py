"""An MCP server of a documentation, of the package that KIND names, over HTTP at PORT or over stdin."""

import os
from typing import Any

from caller_stats import Recorder
from caller_stats.mcp import record_questions

KIND, PORT = os.environ["KIND"], int(os.environ.get("PORT", "0"))
STATELESS = os.environ.get("STATELESS") == "1"
server: Any
if KIND == "fastmcp":
    from fastmcp import FastMCP

    server = FastMCP("docs")
elif KIND == "mcp 1":
    from mcp.server.fastmcp import FastMCP as Official

    server = Official("docs", port=PORT, stateless_http=STATELESS)
else:
    from mcp.server import MCPServer

    server = MCPServer("docs")

recorder = Recorder(os.environ["URL"], os.environ["PROJECT"], os.environ["KEY"], delay=0)
record_questions(server, recorder, tools=["ask"], site_origins=["https://docs.test"])


@server.tool()
def ask(question: str) -> str:
    if question == "fails":
        raise ValueError("No.")
    return f"About {question}"


@server.tool()
async def search(question: str) -> str:
    return f"Pages about {question}"


if PORT == 0:
    server.run(transport="stdio")
elif KIND == "fastmcp":
    server.run(transport="http", port=PORT, stateless_http=STATELESS, show_banner=False)
elif KIND == "mcp 1":
    server.run(transport="streamable-http")
else:
    server.run(transport="streamable-http", port=PORT, stateless_http=STATELESS)
