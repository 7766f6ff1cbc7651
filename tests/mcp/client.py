"""The official Python client: lists, calls, is refused, and waits for an approval. `python client.py URL [MODE]`, with a task's
token in ACTUM_TOKEN; MODE is `legacy`, or a revision of the protocol without sessions. Prints `waits CALL` once a call waits;
whoever reads it decides."""

import asyncio
import json
import os
import sys

from mcp import Client, MCPError
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client


async def main(url: str, mode: str = "legacy") -> None:
    headers = {"Authorization": f"Bearer {os.environ['ACTUM_TOKEN']}"}
    async with (
        create_mcp_http_client(headers=headers) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert {"openspine-status-read", "lyra-ui-preview"} <= set(names), names

        status = await client.call_tool("openspine-status-read", {})
        assert status.structured_content["store"] == "sqlite", status

        try:
            await client.call_tool("connector-enable", {})
            raise AssertionError("a tool that is not there was called")
        except MCPError as error:
            assert "Unknown tool: connector-enable" in str(error), error
        unfit = await client.call_tool("terminal-reply--owner_device", {"text": 1})
        assert unfit.is_error and "/text" in unfit.content[0].text, unfit

        draft = {"title": "Answer", "kind": "text", "body": "Tuesday at nine."}
        waits = await client.call_tool("lyra-ui-preview", draft)
        assert waits.structured_content["decision"] == "approval_required", waits
        print("waits", waits.structured_content["request_id"], flush=True)
        state = "pending"
        for _ in range(100):
            read = await client.read_resource(waits.structured_content["resource"])
            state = json.loads(read.contents[0].text)["state"]
            if state != "pending":
                break
            await asyncio.sleep(0.2)
        assert state == "succeeded", state
        print(f"Python client, {client.protocol_version}: {len(names)} tools, a call, two refusals, an approval")


asyncio.run(main(*sys.argv[1:]))
