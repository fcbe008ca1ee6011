"""Two tools over `requests`: nothing here knows of Tether's transport."""

import json
import sys

import componentize_py_types
import requests
import wit_world
from componentize_py_types import Err
from wasi_http_adapter import wasi_session
from wit_world import exports
from wit_world.imports.tool_types import Effect, Fault, Manifest, Tool, ToolError_Failed

# Where the adapter looks for `Err`; the generator has moved it.
sys.modules["wit_world.types"] = componentize_py_types

# Made here, while the component is built: afterwards there are no files to import from.
SESSION = wasi_session(wit_world)

SCHEMA = json.dumps({"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]})


def tool(name, effect, description):
    return Tool(name, None, description, effect, SCHEMA, None)


class Handler(exports.Handler):
    def describe(self):
        tools = [
            tool("py_get", Effect.READ, "Asks a URL."),
            tool("py_post", Effect.WRITE, "Posts to a URL."),
        ]
        return Manifest(tools, [])

    def preview(self, invocation):
        return None

    def invoke(self, invocation):
        url = json.loads(invocation.arguments)["url"]
        try:
            answer = SESSION.get(url) if invocation.tool == "py_get" else SESSION.post(url, data="hello")
        except requests.RequestException as error:
            raise Err(ToolError_Failed(Fault("NO_ANSWER", str(error), None)))
        return json.dumps({"status": answer.status_code, "text": answer.text})
