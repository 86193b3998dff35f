"""The parts of OpenAI's client that the console's examples call, over the standard library."""

import json
import urllib.request
from types import SimpleNamespace


class OpenAI:
    def __init__(self, *, base_url, api_key):
        def call(path):
            def create(**fields):
                headers = {"Authorization": f"Bearer {api_key}", "Content-Type": "application/json"}
                body = json.dumps(fields).encode()
                request = urllib.request.Request(base_url + path, body, headers)
                with urllib.request.urlopen(request) as response:
                    return json.load(response, object_hook=lambda found: SimpleNamespace(**found))

            return create

        completions = SimpleNamespace(create=call("/chat/completions"))
        self.chat = SimpleNamespace(completions=completions)
        self.images = SimpleNamespace(generate=call("/images/generations"))
