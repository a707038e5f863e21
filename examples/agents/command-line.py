"""An agent that is a program, in Python without a package: the standard library speaks to the model and to MCP.

    touchstone run --agent 'mine=python3 examples/agents/command-line.py {mcp_config} {task}'

with OPENAI_BASE_URL, OPENAI_API_KEY and MODEL set.
"""

import json
import os
import sys
import urllib.request


def post(url, body, headers=None):
    """Post JSON. Gives the answer's JSON, if there is one, and its headers."""
    request = urllib.request.Request(
        url,
        json.dumps(body).encode(),
        {"content-type": "application/json", **(headers or {})},
    )
    with urllib.request.urlopen(request) as response:
        text = response.read().decode()
        return json.loads(text) if text.strip() else None, response.headers


class McpServer:
    """A client of one MCP server over streamable HTTP."""

    def __init__(self, url):
        self.url, self.next = url, 0
        self.headers = {"accept": "application/json, text/event-stream"}
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}}
        hello["clientInfo"] = {"name": "command-line", "version": "1"}
        _, headers = self.send("initialize", hello)
        self.headers["mcp-session-id"] = headers["mcp-session-id"]
        self.headers["mcp-protocol-version"] = hello["protocolVersion"]
        post(url, {"jsonrpc": "2.0", "method": "notifications/initialized"}, self.headers)

    def send(self, method, params):
        self.next += 1
        body = {"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}
        return post(self.url, body, self.headers)

    def tools(self):
        return self.send("tools/list", {})[0]["result"]["tools"]

    def call(self, name, arguments):
        answer, _ = self.send("tools/call", {"name": name, "arguments": arguments})
        if "error" in answer:
            return answer["error"]["message"]
        return json.dumps(answer["result"]["content"])


def main(config, task):
    with open(config, encoding="utf-8") as file:
        servers = [McpServer(one["url"]) for one in json.load(file)["mcpServers"].values()]
    owner, tools = {}, []
    for server in servers:
        for tool in server.tools():
            owner[tool["name"]] = server
            described = {"name": tool["name"], "description": tool.get("description", "")}
            described["parameters"] = tool["inputSchema"]
            tools.append({"type": "function", "function": described})
    messages = [{"role": "user", "content": task}]
    model = os.environ.get("MODEL", "gpt-5-mini")
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    authorization = {"authorization": "Bearer " + os.environ.get("OPENAI_API_KEY", "")}
    while True:
        body = {"model": model, "messages": messages, "tools": tools}
        answer, _ = post(url, body, authorization)
        message = answer["choices"][0]["message"]
        messages.append(message)
        if not message.get("tool_calls"):
            print(message["content"])
            return
        for call in message["tool_calls"]:
            name, arguments = call["function"]["name"], json.loads(call["function"]["arguments"])
            content = owner[name].call(name, arguments)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})


main(*sys.argv[1:3])
