"""One tool that gives its arguments back."""

import json

from wit_world import exports
from wit_world.imports.types import Effect, Manifest, Tool


class Handler(exports.Handler):
    def describe(self):
        tool = Tool("py_echo", None, "Gives its arguments back.", Effect.READ, '{"type":"object"}', None)
        return Manifest([tool], [])

    def preview(self, invocation):
        return None

    def invoke(self, invocation):
        return json.dumps(json.loads(invocation.arguments))
