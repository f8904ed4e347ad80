"""The scripted server of the client tests: answers with the responses of expectations.json and checks the requests.

Prints its URL, then serves until it is stopped. A client runs each scenario in three steps:

1. It makes the call of the scenario with the base URL `/s/NAME`.
2. It sends the outcome to `POST /outcome/NAME`, as JSON.
3. The response lists what differs from the expectations: `{"violations": []}`. The scenario can then be run again.

Connections are handled byte by byte, because the scenarios cut them at every place of an exchange.
"""

import json
import pathlib
import re
import socket
import socketserver
import struct
import sys
import threading
import time
from email.utils import formatdate
from urllib.parse import parse_qsl, urlsplit

FOLDER = pathlib.Path(__file__).parent
CONTRACT = json.loads((FOLDER / "../../../src/api/generated/v1.json").read_text())
FILE = json.loads((FOLDER / "expectations.json").read_text())
SCENARIOS = {scenario["name"]: scenario for scenario in FILE["scenarios"]}
REASONS = {200: "OK", 201: "Created"}
LOCK = threading.Lock()


class State:
    """What happened in one run of a scenario."""

    def __init__(self):
        self.requests = []
        self.created = {}
        self.inserted = 0


STATES = {name: State() for name in SCENARIOS}


def pointer(document, path):
    """Returns the value at a JSON pointer, with its container and key."""
    container, key, value = None, None, document
    for token in path.split("/")[1:]:
        token = token.replace("~1", "/").replace("~0", "~")
        container, key = value, int(token) if isinstance(value, list) else token
        value = container.get(key) if isinstance(container, dict) else container[key]
    return value, container, key


def body_of(step, state, query):
    """Returns the body of a response and its media type."""
    if "students" in step:
        return json.dumps(page(step["students"], state, query)), "application/json"
    if "text" in step:
        return step["text"], step.get("type", "text/html")
    if "contract" not in step:
        return "", "application/json"
    value = json.loads(json.dumps(pointer(CONTRACT, FILE["bodies"][step["contract"]])[0]))
    for path, new in step.get("set", {}).items():
        _, container, key = pointer(value, path)
        container[key] = new
    return json.dumps(value), "application/json"


def page(students, state, query):
    """Returns a page of numbered students, newest first. `grow` students are created after each page."""
    newest = students["count"] + state.inserted
    start = int(query.get("cursor", newest + 1)) - 1
    end = max(start - int(query.get("limit", 25)), 0)
    state.inserted += students.get("grow", 0)
    model = pointer(CONTRACT, FILE["bodies"]["student"])[0]
    data = [{**model, "id": f"stu_{number:026}", "email": f"s{number}@example.com"} for number in range(start, end, -1)]
    return {"data": data, "pagination": {"cursor": str(end + 1) if end else None, "has_more": end > 0}}


class Connection(socketserver.BaseRequestHandler):
    """Serves the requests of one connection."""

    def handle(self):
        self.buffer = b""
        while self.exchange():
            pass

    def read_until(self, end):
        while end not in self.buffer:
            received = self.request.recv(65536)
            if not received:
                return None
            self.buffer += received
        data, self.buffer = self.buffer.split(end, 1)
        return data

    def exchange(self):
        """Serves one request. Returns whether the connection stays open."""
        try:
            head = self.read_until(b"\r\n\r\n")
        except OSError:
            return False
        if head is None:
            return False
        line, *fields = head.decode("latin-1").split("\r\n")
        method, target, _ = line.split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}
        url = urlsplit(target)
        kind, name, *path = url.path.lstrip("/").split("/", 2)
        if kind == "s":
            step = self.record(name, method, "/" + "/".join(path), dict(parse_qsl(url.query)), headers)
            if step.get("cut") == "before_the_body_is_read":
                return self.reset()
        length = int(headers.get("content-length", 0))
        while len(self.buffer) < length:
            self.buffer += self.request.recv(65536)
        body, self.buffer = self.buffer[:length], self.buffer[length:]
        if kind == "outcome":
            return self.send(200, {}, json.dumps({"violations": check(name, json.loads(body))}))
        return self.answer(step, name, dict(parse_qsl(url.query)), headers)

    def record(self, name, method, path, query, headers):
        """Stores a request and returns its step. The last step answers all further requests."""
        state, steps = STATES[name], SCENARIOS[name]["responses"]
        with LOCK:
            at = min(len(state.requests), len(steps) - 1)
            state.requests.append(
                {"time": time.monotonic(), "method": method, "path": path, "query": query, "headers": headers}
            )
        return steps[at]

    def answer(self, step, name, query, headers):
        state = STATES[name]
        if step.get("creates"):
            state.created.setdefault(headers.get("idempotency-key"), True)
        time.sleep(step.get("delay_ms", 0) / 1000)
        cut = step.get("cut")
        if cut == "before_the_response":
            return self.reset()
        body, media_type = body_of(step, state, query)
        fields = {"Content-Type": media_type, "X-Request-Id": f"req_{name}", **step.get("headers", {})}
        if "retry_at_s" in step:
            fields["Retry-After"] = formatdate(time.time() + step["retry_at_s"], usegmt=True)
        try:
            if cut == "in_the_head":
                self.request.sendall(b"HTTP/1.1 201 Created\r\nContent-Ty")
            elif cut == "after_the_head":
                self.send(step["status"], fields, body, sent=0)
            elif cut == "in_the_body":
                self.send(step["status"], fields, body, sent=len(body) // 2)
            elif cut == "in_a_chunk":
                self.send(step["status"], {**fields, "Transfer-Encoding": "chunked"}, f"FFFF\r\n{body[:20]}")
            elif "byte_ms" in step:
                self.send(step["status"], fields, body, sent=0)
                for byte in body.encode():
                    time.sleep(step["byte_ms"] / 1000)
                    self.request.sendall(bytes([byte]))
            else:
                self.send(step["status"], fields, body)
        except OSError:
            return False
        return cut is None

    def send(self, status, fields, body, sent=None):
        payload = body.encode()
        lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Error')}"]
        if "Transfer-Encoding" not in fields:
            fields = {**fields, "Content-Length": len(payload)}
        lines += [f"{name}: {value}" for name, value in fields.items()]
        self.request.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + payload[:sent])
        return True

    def reset(self):
        """Closes the connection with a reset instead of an orderly end."""
        self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return False


def check(name, outcome):
    """Returns how a run differs from the expectations, and forgets the run."""
    scenario, state = SCENARIOS[name], STATES[name]
    STATES[name] = State()
    violations = list(differences(scenario["outcome"], outcome, "outcome"))
    expected, requests = scenario.get("requests", {}), state.requests
    if "count" in expected and len(requests) != expected["count"]:
        violations.append(f"{len(requests)} requests instead of {expected['count']}")
    if "created" in expected and len(state.created) != expected["created"]:
        violations.append(f"created {len(state.created)} times")
    for gap, (first, second) in zip(expected.get("min_gaps_ms", []), zip(requests, requests[1:])):
        waited = (second["time"] - first["time"]) * 1000
        if waited < gap:
            violations.append(f"waited {waited:.0f} ms instead of {gap} ms")
    for wanted, request in zip(expected.get("queries", []), requests):
        violations += differences(wanted, request["query"], "query")
    keys = {request["headers"].get("idempotency-key") for request in requests if request["method"] == "POST"}
    if len(keys) > 1 or None in keys:
        violations.append(f"idempotency keys: {keys}")
    for headers in (request["headers"] for request in requests):
        if headers.get("authorization") != f"Bearer {FILE['api_key']}":
            violations.append(f"authorization: {headers.get('authorization')}")
        if not re.search(FILE["user_agent"], headers.get("user-agent", "")):
            violations.append(f"user agent: {headers.get('user-agent')}")
    return violations


def differences(expected, actual, at):
    """Lists where `actual` lacks or contradicts what is expected. Further fields of an object are allowed."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key, value in expected.items():
            if key.startswith("count_of_"):
                items = actual.get(key.removeprefix("count_of_"), [])
                if len(items) != value or len(set(items)) != value:
                    yield f"{at}: {len(items)} items, {len(set(items))} different ones, instead of {value}"
            else:
                yield from differences(value, actual.get(key), f"{at}.{key}")
    elif expected != actual:
        yield f"{at}: {json.dumps(actual)} instead of {json.dumps(expected)}"


class Server(socketserver.ThreadingTCPServer):
    """Handles each connection in a thread."""

    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        print(f"error in a connection: {sys.exc_info()[1]!r}", file=sys.stderr)


if __name__ == "__main__":
    with Server(("127.0.0.1", 0), Connection) as server:
        print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
        # A client that ends without stopping the server closes its standard input.
        threading.Thread(target=lambda: (sys.stdin.read(), server.shutdown()), daemon=True).start()
        server.serve_forever()
