"""The parts of `requests` that the console's examples call, over the standard library."""

import io
import json as texts
import urllib.request
import uuid


class Response:
    def __init__(self, content):
        self.content = content

    def raise_for_status(self):
        pass

    def json(self):
        return texts.loads(self.content)

    def iter_lines(self):
        return iter(self.content.splitlines())


def post(url, *, headers, json=None, files=None, stream=False):
    if files is None:
        body, kind = texts.dumps(json).encode(), "application/json"
    else:
        body, kind = form(files)
    request = urllib.request.Request(url, body, {**headers, "Content-Type": kind})
    with urllib.request.urlopen(request) as response:
        return Response(response.read())


def form(files):
    boundary = uuid.uuid4().hex
    parts = io.BytesIO()
    for name, value in files:
        file_name, content = (None, value[1].encode()) if isinstance(value, tuple) else (value.name, value.read())
        named = f'; filename="{file_name}"' if file_name else ""
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"{named}\r\n\r\n'
        parts.write(head.encode() + content + b"\r\n")
    parts.write(f"--{boundary}--\r\n".encode())
    return parts.getvalue(), f"multipart/form-data; boundary={boundary}"
