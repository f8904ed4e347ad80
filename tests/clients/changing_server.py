"""A proxy between a generated client and the server, which shows what the server could send one day.

Prints its URL, then serves until its standard input is closed. The environment variable UPSTREAM contains the URL of the server. The
first part of a path selects the mode:

- `/plain/...`: responses are unchanged.
- `/changed/...`: each extensible enum has the unknown value `added_value`, and each object the unknown field `added_field`.
- `/large/...`: each integer of 64 bits is 5,000,000,000.
- `/limited/...`: 429 with `Retry-After: 7`.
- `/event/TYPE`: the event of the contract's example, signed now with the secret of WEBHOOK_SECRET. A type that the contract does not
  have is an unknown event. The headers of the response are those of a delivery.
"""

import base64
import hashlib
import hmac
import http.client
import http.server
import json
import os
import pathlib
import sys
import threading
import time
from urllib.parse import urlsplit

CONTRACT = json.loads((pathlib.Path(__file__).parent / "../../src/api/generated/v1.json").read_text())
UPSTREAM = urlsplit(os.environ["UPSTREAM"])
SECRET = os.environ["WEBHOOK_SECRET"]
ADDED = {"added_field": {"since": "tomorrow"}}
LARGE = 5_000_000_000


def resolve(schema):
    """Returns the schema itself, or the target of its reference."""
    while "$ref" in schema:
        target = CONTRACT
        for token in schema["$ref"].split("/")[1:]:
            target = target[token.replace("~1", "/").replace("~0", "~")]
        schema = target
    return schema


def properties(schema):
    """Returns the properties of an object, also those of the parts of `allOf`."""
    schema = resolve(schema)
    found = dict(schema.get("properties", {}))
    for part in schema.get("allOf", []):
        found.update(properties(part))
    return found


def change(value, schema, mode):
    """Changes a value as the mode says."""
    schema = resolve(schema)
    for part in schema.get("oneOf", []) + schema.get("anyOf", []):
        if resolve(part).get("type") != "null":
            return change(value, part, mode)
    if isinstance(value, list):
        return [change(item, schema.get("items", {}), mode) for item in value]
    if isinstance(value, dict):
        known = properties(schema)
        changed = {name: change(item, known.get(name, {}), mode) for name, item in value.items()}
        return {**changed, **ADDED} if mode == "changed" and known else changed
    if value is not None and mode == "changed" and schema.get("x-extensible-enum"):
        return "added_value"
    if value is not None and mode == "large" and schema.get("format") == "int64":
        return LARGE
    return value


def response_schema(method, path, status):
    """Returns the schema of a response, or None for a response that the contract does not describe."""
    wanted = path.strip("/").split("/")
    for template, operations in CONTRACT["paths"].items():
        parts = template.strip("/").split("/")
        same = len(parts) == len(wanted) and all(a == b or a[0] == "{" for a, b in zip(parts, wanted))
        response = operations.get(method.lower(), {}).get("responses", {}).get(str(status)) if same else None
        if response:
            return resolve(response).get("content", {}).get("application/json", {}).get("schema")
    return None


def event(event_type):
    """Returns the body and the headers of a delivery."""
    name = event_type if event_type in CONTRACT["webhooks"] else "student.created"
    content = CONTRACT["webhooks"][name]["post"]["requestBody"]["content"]["application/json"]
    value = change(json.loads(json.dumps(content["examples"][name]["value"])), content["schema"], "changed")
    value["type"] = event_type
    body = json.dumps(value, separators=(",", ":"))
    now, key = int(time.time()), base64.b64decode(SECRET.removeprefix("whsec_"))
    hexadecimal = hmac.new(SECRET.encode(), f"{now}.{body}".encode(), hashlib.sha256).hexdigest()
    standard = hmac.digest(key, f"{value['id']}.{now}.{body}".encode(), "sha256")
    return body.encode(), {
        "X-SVC-Signature": f"t={now},v1={hexadecimal}",
        "X-SVC-Event": event_type,
        "X-SVC-Delivery": "dlv_00000000000000000000000000",
        "webhook-id": value["id"],
        "webhook-timestamp": str(now),
        "webhook-signature": f"v1,{base64.b64encode(standard).decode()}",
    }


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves one connection."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        """Answers or forwards a request of any method."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        _, mode, *rest = self.path.split("/", 2)
        path = "/" + "".join(rest)
        if mode == "event":
            self.respond(200, *event(urlsplit(path).path[1:]))
        elif mode == "limited":
            examples = CONTRACT["components"]["responses"]["RateLimited"]["content"]["application/json"]["examples"]
            error = next(iter(examples.values()))["value"]
            error["error"]["retryAfterSeconds"] = 7
            self.respond(429, json.dumps(error).encode(), {"Retry-After": "7"})
        else:
            self.respond(*self.forward(mode, path, body))

    def __getattr__(self, name):
        """Returns the same function for all other methods, also for unknown ones."""
        if name.startswith("do_"):
            return self.do_GET
        raise AttributeError(name)

    def forward(self, mode, path, body):
        """Sends a request to the server. Returns the status, the body and the headers of the response."""
        connection = http.client.HTTPConnection(UPSTREAM.hostname, UPSTREAM.port, timeout=30)
        skipped = ("host", "accept-encoding", "connection", "content-length")
        headers = {name: value for name, value in self.headers.items() if name.lower() not in skipped}
        connection.request(self.command, path, body or None, headers)
        response = connection.getresponse()
        content, fields = response.read(), dict(response.getheaders())
        for name in ("Connection", "Content-Length", "Transfer-Encoding", "Date"):
            fields = {key: value for key, value in fields.items() if key.lower() != name.lower()}
        schema = response_schema(self.command, urlsplit(path).path, response.status)
        if mode in ("changed", "large") and schema and content:
            content = json.dumps(change(json.loads(content), schema, mode)).encode()
        return response.status, content, fields

    def respond(self, status, body, fields):
        """Sends a response."""
        self.send_response(status)
        if not any(name.lower() == "content-type" for name in fields):
            self.send_header("Content-Type", "application/json")
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_):
        """Does not log requests."""


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    threading.Thread(target=lambda: (sys.stdin.read(), server.shutdown()), daemon=True).start()
    server.serve_forever()
