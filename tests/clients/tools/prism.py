"""Runs Prism as a mock server, or as a proxy that validates requests and responses, and prints the cells of its row as JSON."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid

MODE, URL, KEY = sys.argv[1], os.environ["BASE_URL"], os.environ["API_KEY"]


def free_port():
    """Returns a port that nothing listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def request(base, path, body=None):
    """Sends a request. Returns the status, the violations that Prism found, and the body."""
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    data = json.dumps(body).encode() if body else None
    try:
        with urllib.request.urlopen(urllib.request.Request(base + path, data, headers)) as response:
            # The mock server sends no headers, and reports that itself.
            violations = response.headers.get("sl-violations") if MODE == "proxy" else None
            return response.status, violations, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, error.headers.get("sl-violations"), json.load(error)


def operations(base):
    """Calls all operations, and returns what is wrong."""
    lists = {name: request(base, f"/api/v1/{name}?limit=2") for name in ("courses", "students", "orders")}
    ids = {name: result[2]["data"][0]["id"] for name, result in lists.items()}
    enrollment = {"studentId": ids["students"], "courseId": ids["courses"]}
    results = [*lists.values()]
    results += [request(base, f"/api/v1/{name}/{value}") for name, value in ids.items()]
    results.append(request(base, "/api/v1/students", {"email": f"{uuid.uuid4().hex}@example.com"}))
    results.append(request(base, "/api/v1/enrollments", enrollment))
    results.append(request(base, "/api/v1/analytics/summary?interval=month"))
    return [result[:2] for result in results if result[0] not in (200, 201) or result[1]]


def filters(base):
    """Sends filters with dates and enums."""
    query = "status=paid&paid_after=2020-01-01T00:00:00Z"
    result = request(base, f"/api/v1/orders?{query}")
    return [] if result[0] == 200 and not result[1] else [result[:2]]


def errors(base):
    """Sends invalid requests, which must be rejected: by the mock itself, or by the server."""
    invalid = [request(base, "/api/v1/courses?limit=1000"), request(base, "/api/v1/students", {"email": 1})]
    return [result[:1] for result in invalid if result[0] != 422]


port = free_port()
command = ["prism", MODE, "v1.json", "--port", str(port)]
process = subprocess.Popen(command + ([f"{URL}/plain"] if MODE == "proxy" else []), stdout=subprocess.DEVNULL)
base = f"http://127.0.0.1:{port}"
try:
    for _ in range(300):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.1)
    cells = {}
    for check in (operations, filters, errors):
        found = check(base)
        cells[check.__name__] = {"result": "failed" if found else "passed", "note": str(found)[:300] if found else ""}
    print(json.dumps(cells))
finally:
    process.terminate()
