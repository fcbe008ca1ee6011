"""What each client does, with the client of the Python SDK: see `visit.mjs`."""

import asyncio
import json
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult

asked = json.loads(sys.argv[1])
pages = []


async def open_page(_context, params):
    """Opens a page, as far as its server is concerned."""
    pages.append(params.url)
    return ElicitResult(action="accept")


def say(**seen):
    print(json.dumps(seen), flush=True)


def text(result):
    return result.content[0].text


def server():
    if command := asked.get("command"):
        return StdioServerParameters(command=command[0], args=command[1:])
    http_client = httpx2.AsyncClient(headers={"Authorization": f"Bearer {asked['token']}"}, timeout=30)
    return streamable_http_client(asked["url"], http_client=http_client)


async def visit(client):
    tools = (await client.list_tools()).tools
    exact = {"integer": 9007199254740993, "text": "👩‍🚀", "empty": {}, "none": None}
    echo = await client.call_tool("probe_echo", exact)
    assert echo.structured_content == exact, "the integer is what it was"
    big = await client.call_tool("probe_big", {"bytes": 250000, "emoji": True})
    write = {"note": asked["key"]}
    meta = {"tether/idempotencyKey": asked["key"]}
    proposed = await client.call_tool("probe_write", write, meta=meta)
    again = await client.call_tool("probe_write", write, meta=meta)
    action = proposed.structured_content["actionId"]
    say(
        tools=[tool.name for tool in tools],
        hint=next(tool for tool in tools if tool.name == "probe_echo").annotations.read_only_hint,
        echo=text(echo),
        emoji=echo.structured_content["text"],
        big=text(big),
        proposed=text(proposed),
        action=action,
        again=again.structured_content["actionId"],
        pages=pages,
    )
    await asyncio.to_thread(sys.stdin.readline)
    done = await client.call_tool("tether_actions", {"actionId": action})
    say(status=done.structured_content["actions"][0]["status"], done=text(done))


async def main():
    async with Client(server(), mode=asked["mode"], elicitation_callback=open_page) as client:
        await visit(client)


asyncio.run(main())
