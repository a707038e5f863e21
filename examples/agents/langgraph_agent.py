"""An agent on LangGraph: a graph of two nodes, a model and its tools, over the MCP servers that it is handed.

    pip install langgraph langchain-openai langchain-mcp-adapters
    touchstone run --agent 'mine=python3 examples/agents/langgraph_agent.py {mcp_config} {task}'

with OPENAI_BASE_URL, OPENAI_API_KEY and MODEL set.
"""

import asyncio
import json
import os
import sys

from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition


async def main(config, task):
    with open(config, encoding="utf-8") as file:
        servers = json.load(file)["mcpServers"]
    client = MultiServerMCPClient(
        {name: {"transport": "streamable_http", "url": one["url"]} for name, one in servers.items()}
    )
    tools = await client.get_tools()
    model = ChatOpenAI(model=os.environ.get("MODEL", "gpt-5-mini")).bind_tools(tools)

    async def agent(state):
        return {"messages": [await model.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("agent", agent)
    graph.add_node("tools", ToolNode(tools, handle_tool_errors=True))
    graph.add_edge(START, "agent")
    graph.add_conditional_edges("agent", tools_condition)
    graph.add_edge("tools", "agent")
    end = await graph.compile().ainvoke({"messages": [{"role": "user", "content": task}]})
    print(end["messages"][-1].text)


asyncio.run(main(*sys.argv[1:3]))
