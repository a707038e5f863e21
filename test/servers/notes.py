"""A server that is not Touchstone's, in Python: notes by name, over standard input and output or, with the argument "http", over
streamable HTTP on a free port of 127.0.0.1, whose address is the first line of its standard error."""

import socket
import sys

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("notes")
notes: dict[str, str] = {}


@mcp.tool
def write_note(name: str, text: str) -> str:
    """Write a note."""
    notes[name] = text
    return f"Wrote {len(text)} characters to {name}."


@mcp.tool
def read_note(name: str) -> str:
    """Read a note."""
    if name not in notes:
        raise ToolError("no note of that name")
    return notes[name]


@mcp.tool
def note_of(name: str) -> dict:
    """Read a note as an object of which the output schema says nothing."""
    return {"name": name, "text": notes.get(name)}


if sys.argv[1:] == ["http"]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    print(f"http://127.0.0.1:{port}/mcp", file=sys.stderr, flush=True)
    mcp.run(transport="http", host="127.0.0.1", port=port, show_banner=False)
else:
    mcp.run(show_banner=False)
