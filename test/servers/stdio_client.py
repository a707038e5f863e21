"""The operations of stdio-clients.real.ts by the MCP SDK for Python, over a program's standard input and output.

Standard input holds {command, args, env, cwd, mode}; what was answered is printed as JSON.
"""

import json
import sys

import anyio
from mcp import Client, MCPError, StdioServerParameters

REPO = {"owner": "acme", "repo": "payments"}
KEY = {**REPO, "title": "ci", "key": "ssh-ed25519 A", "read_only": True}


def plain(result):
    return {"text": [part.text for part in result.content], "error": result.is_error or False}


async def main():
    asked = json.load(sys.stdin)
    mode = asked.pop("mode")
    said = {}
    async with Client(StdioServerParameters(**asked), mode=mode) as client:
        said["version"] = client.protocol_version
        if mode == "legacy":
            await client.send_ping()
        tools = (await client.list_tools()).tools
        said["tools"] = [tool.name for tool in tools]
        said["schema"] = next(tool.input_schema for tool in tools if tool.name == "add_deploy_key")
        said["added"] = plain(await client.call_tool("add_deploy_key", KEY))
        said["refused"] = plain(await client.call_tool("delete_deploy_key", {**REPO, "id": 9}))
        try:
            await client.call_tool("no_such_tool", {})
        except MCPError as error:
            said["unknown"] = [error.code, error.message]
        many = []

        async def look():
            many.append(plain(await client.call_tool("list_deploy_keys", REPO)))

        async with anyio.create_task_group() as group:
            for _ in range(20):
                group.start_soon(look)
        said["many"] = [len(many), many[0], all(one == many[0] for one in many)]
        try:
            await client.call_tool("get_repo", REPO, read_timeout_seconds=0.5)
            said["hung"] = False
        except MCPError as error:
            said["hung"] = "imed out" in error.message
        said["after"] = plain(await client.call_tool("list_collaborators", REPO))
        relisted = (await client.list_tools()).tools
        said["changed"] = next(t.description for t in relisted if t.name == "list_collaborators")
        big = await client.call_tool("update_repo", {**REPO, "description": "é" * 300_000})
        said["big"] = len(big.content[0].text) > 300_000
    print(json.dumps(said))


anyio.run(main)
