"""What the adapters of all Python clients share. checks.py describes the protocol."""

import hashlib
import hmac
import json
import re
import sys


class Failure(Exception):
    """A response with an error."""

    def __init__(self, status, headers, body):
        super().__init__(f"status {status}")
        self.status = status
        self.headers = {name.lower(): value for name, value in dict(headers).items()}
        self.body = body


def event(arguments, models):
    """Verifies a signature and parses the event into the model of its type."""
    header = next(value for name, value in arguments["headers"].items() if name.lower() == "x-svc-signature")
    signed = re.search(r"t=(\d+)", header).group(1) + "." + arguments["body"]
    expected = hmac.new(arguments["secret"].encode(), signed.encode(), hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected, re.search(r"v1=(\w+)", header).group(1)):
        return {"error": {"code": "signature"}}
    event_type = json.loads(arguments["body"])["type"]
    parse = models.get(event_type)
    return {"value": parse(arguments["body"]) if parse else {"unknown": event_type}}


def serve(connect, models):
    """Answers the calls from standard input.

    `connect` returns the operations for a URL and a key: functions of the arguments that return JSON. `models` contains parsers of
    events by type.
    """
    for line in sys.stdin:
        call = json.loads(line)
        try:
            if call["operation"] == "event":
                result = event(call["arguments"], models)
            else:
                result = {"value": connect(call["url"], call["key"])[call["operation"]](**call["arguments"])}
        except Failure as failure:
            error = json.loads(failure.body)["error"]
            fields = [detail["field"] for detail in error.get("details", [])]
            retry_after = failure.headers.get("retry-after")
            status, code = failure.status, error["code"]
            result = {"error": {"status": status, "code": code, "retry_after": retry_after, "fields": fields}}
        except Exception as exception:
            result = {"exception": repr(exception)}
        print(json.dumps(result, default=str), flush=True)
