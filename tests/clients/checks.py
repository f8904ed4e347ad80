"""Checks a generated client through its adapter, and prints the cells of its row in the table as JSON.

An adapter is a program in the language of the client. It reads one call a line and writes one result a line, both as JSON:

    {"operation": "listStudents", "url": "http://...", "key": "svc_...", "arguments": {"limit": 2}}
    {"value": ...}                the value that the client returned, serialized by the client
    {"error": {"status": 422, "code": "invalid_request", "retry_after": null, "fields": ["limit"]}}
    {"exception": "..."}          anything else

The operation `event` has the arguments `body`, `headers` and `secret`. It verifies `X-SVC-Signature` and parses the body into the model
of its type. A body with another signature is the error `signature`, and an event of an unknown type the value `{"unknown": TYPE}`.

Usage: checks.py [--without CELL=REASON]... [--names FOLDER] -- PROGRAM ARGUMENT...
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess
import tempfile
import urllib.request
import uuid

URL, KEY, SECRET = (os.environ[name] for name in ("BASE_URL", "API_KEY", "WEBHOOK_SECRET"))
EVENT_TYPES = ["student.created", "order.paid", "course.published", "certificate.issued"]
# Names that generators make up, because a schema or an operation has no name of its own.
MADE_UP = re.compile(r"\b(?:class|struct|interface|type|enum)\s+(\w*(?:Inline|\d{3}Response|AllOf|AnyOf|OneOf|Inner)\w*)")


class Adapter:
    """A running adapter."""

    def __init__(self, command):
        self.errors = tempfile.TemporaryFile("w+", errors="replace")
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=self.errors, text=True)

    def call(self, operation, mode="plain", key=KEY, **arguments):
        """Makes a call and returns its result."""
        call = {"operation": operation, "url": f"{URL}/{mode}", "key": key, "arguments": arguments}
        try:
            print(json.dumps(call), file=self.process.stdin, flush=True)
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise AssertionError(f"the adapter ended at {operation}: {self.last_errors()}")
        return json.loads(line)

    def last_errors(self):
        """Returns the last lines of stderr of an adapter that answers no longer, on one line."""
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.errors.seek(0)
        lines = [line.strip() for line in self.errors if line.strip()]
        return " | ".join(lines[-3:]) or f"exit code {self.process.returncode}"

    def value(self, operation, mode="plain", **arguments):
        """Makes a call that must succeed, and returns its value."""
        result = self.call(operation, mode, **arguments)
        assert "value" in result, f"{operation}: {json.dumps(result)[:300]}"
        return result["value"]


def expect(actual, expected, what):
    """Compares two values."""
    assert actual == expected, f"{what}: {json.dumps(actual)[:200]} instead of {json.dumps(expected)[:200]}"


def new_student(adapter, **fields):
    """Creates a student with a new email."""
    return adapter.value("createStudent", body={"email": f"{uuid.uuid4().hex}@example.com", **fields})


def operations(adapter):
    """All nine operations."""
    course = adapter.value("listCourses", limit=2)["data"][0]
    detail = adapter.value("getCourse", id=course["id"])
    expect(sum(len(module["lessons"]) for module in detail["modules"]), detail["lesson_count"], "lessons")
    student = new_student(adapter, tags=["client"])
    listed = adapter.value("listStudents", email=student["email"])
    expect([other["id"] for other in listed["data"]], [student["id"]], "students with the email")
    enrollment = adapter.value("createEnrollment", body={"studentId": student["id"], "courseId": course["id"]})
    enrolled = adapter.value("getStudent", id=student["id"])
    expect([other["id"] for other in enrolled["enrollments"]], [enrollment["id"]], "enrollments")
    order = adapter.value("listOrders", limit=1)["data"][0]
    expect(adapter.value("getOrder", id=order["id"])["total_amount"], order["total_amount"], "total_amount")
    assert adapter.value("getAnalyticsSummary")["revenue"] is not None, "no revenue"


def pages(adapter):
    """A walk over all pages."""
    ids, cursor, arguments = [], None, {}
    while True:
        page = adapter.value("listCourses", limit=3, **arguments)
        ids += [course["id"] for course in page["data"]]
        cursor = page["pagination"].get("cursor")
        if not page["pagination"]["has_more"]:
            break
        arguments = {"cursor": cursor}
    whole = adapter.value("listCourses", limit=100)
    expect(ids, [course["id"] for course in whole["data"]], "the courses of all pages")
    assert len(ids) > 3, "there is only one page"


def filters(adapter):
    """Filters with dates and enums."""
    past = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc).isoformat().replace("+00:00", "Z")
    future = past.replace("2020", "2099")
    paid = adapter.value("listOrders", status="paid", limit=2)
    assert {order["status"] for order in paid["data"]} == {"paid"}, "orders with another status"
    assert adapter.value("listStudents", created_after=past, enrollment_status="active", limit=1)["data"], "no students"
    expect(adapter.value("listStudents", created_after=future)["data"], [], "students of the future")


def null(adapter):
    """An optional field that is unset, null and set."""
    expect(new_student(adapter).get("name"), None, "an unset name")
    expect(new_student(adapter, name=None).get("name"), None, "a null name")
    expect(new_student(adapter, name="Ada")["name"], "Ada", "a name")


def errors(adapter):
    """422 with details, 429 with Retry-After, 401."""
    unauthorized = adapter.call("listCourses", key="svc_live_unknown")
    expect((unauthorized.get("error") or {}).get("status"), 401, "the status of an unknown key")
    invalid = adapter.call("createStudent", body={"email": "taken@example.com"})
    invalid = invalid if "error" in invalid else adapter.call("createStudent", body={"email": "taken@example.com"})
    error = invalid.get("error") or {}
    expect((error.get("status"), error.get("fields")), (422, ["/email"]), "an email that is in use")
    limited = adapter.call("listCourses", "limited")
    error = limited.get("error") or {}
    wanted = (429, "rate_limited", "7")
    expect((error.get("status"), error.get("code"), str(error.get("retry_after"))), wanted, "the rate limit")


def unknown_enum(adapter):
    """An unknown value of each extensible enum."""
    expect(adapter.value("listOrders", "changed", limit=1)["data"][0]["status"], "added_value", "the status of an order")
    adapter.value("listCourses", "changed", limit=1)
    adapter.value("listStudents", "changed", enrollment_status="active", limit=1)
    course = adapter.value("listCourses", limit=1)["data"][0]
    detail = adapter.value("getCourse", "changed", id=course["id"])
    expect(detail["modules"][0]["lessons"][0]["type"], "added_value", "the type of a lesson")


def unknown_field(adapter):
    """An unknown field in each object. `changed` adds both, so an unknown enum value must not be the cause of a failure."""
    course = adapter.value("listCourses", limit=1)["data"][0]
    expect(adapter.value("listCourses", "changed", limit=1)["data"][0]["title"], course["title"], "the title")
    adapter.value("getAnalyticsSummary", "changed")


def money(adapter):
    """Amounts above 2^31."""
    order = adapter.value("listOrders", "large", limit=1)["data"][0]
    expect(order["total_amount"], 5_000_000_000, "total_amount")


def metadata(adapter):
    """A map with keys of the caller."""
    wanted = {"account manager": "Lena", "crm-id": "4711"}
    student = new_student(adapter, metadata=wanted)
    expect(adapter.value("getStudent", id=student["id"])["metadata"], wanted, "metadata")


def delivery(event_type):
    """Returns the arguments of the operation `event`."""
    with urllib.request.urlopen(f"{URL}/event/{event_type}") as response:
        headers = {name: value for name, value in response.getheaders() if "-" in name}
        return {"body": response.read().decode(), "headers": headers, "secret": SECRET}


def event(adapter):
    """Events whose signature is verified, parsed into their types."""
    for event_type in EVENT_TYPES:
        arguments = delivery(event_type)
        parsed, sent = adapter.value("event", **arguments), json.loads(arguments["body"])
        expect((parsed["id"], parsed["type"]), (sent["id"], event_type), "the event")
        expect(parsed["data"]["id"], sent["data"]["id"], f"data.id of {event_type}")
    arguments["body"] = arguments["body"].replace("added_field", "other_field")
    expect((adapter.call("event", **arguments).get("error") or {}).get("code"), "signature", "another body")


def unknown_event(adapter):
    """An event of an unknown type."""
    expect(adapter.value("event", **delivery("student.merged")), {"unknown": "student.merged"}, "an unknown event")


CELLS = [
    operations, pages, filters, null, errors, unknown_enum, unknown_field, unknown_event, money, metadata, event
]


def names(folder):
    """No made-up names in the generated code."""
    files = [path for path in pathlib.Path(folder).rglob("*") if path.suffix in {".ts", ".py", ".rs", ".go", ".java", ".php", ".rb"}]
    assert files, f"no generated files in {folder}"
    found = {name for path in files for name in MADE_UP.findall(path.read_text(errors="replace"))}
    assert not found, f"made-up names: {', '.join(sorted(found))}"


def outcome(check, argument):
    """Runs a check and returns its cell."""
    try:
        check(argument)
    except (AssertionError, LookupError, TypeError, ValueError, OSError) as error:
        text = " ".join(f"{type(error).__name__ if not isinstance(error, AssertionError) else ''} {error}".split())
        return {"result": "failed", "note": text[:300]}
    return {"result": "passed"}


def main():
    """Prints the cells."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("--names")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    without = dict(item.split("=", 1) for item in arguments.without)
    adapter, cells = Adapter(arguments.command), {}
    for check in CELLS:
        reason = without.get(check.__name__)
        cells[check.__name__] = {"result": "none", "note": reason} if reason else outcome(check, adapter)
        if adapter.process.poll() is not None:
            adapter = Adapter(arguments.command)
    if arguments.names:
        cells["names"] = outcome(names, arguments.names)
    adapter.process.stdin.close()
    print(json.dumps(cells))


if __name__ == "__main__":
    main()
