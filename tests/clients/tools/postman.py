"""Sends all requests of a generated Postman collection with newman, and prints the cells of its row as JSON."""

import json
import os
import subprocess
import urllib.request

URL, KEY = os.environ["BASE_URL"], os.environ["API_KEY"]


def first(path):
    """Returns the id of the first item of a list."""
    request = urllib.request.Request(f"{URL}/plain/api/v1/{path}?limit=1", headers={"Authorization": f"Bearer {KEY}"})
    return json.load(urllib.request.urlopen(request))["data"][0]["id"]


IDS = {"courses": first("courses"), "students": first("students"), "orders": first("orders")}


def prepare(item):
    """Disables the optional parameters, whose values are made up, and sets ids that exist."""
    for child in item.get("item", []):
        prepare(child)
    request = item.get("request")
    if not request:
        return
    # The key of the collection is used for all requests.
    request.pop("auth", None)
    for parameter in request["url"].get("query", []) + request.get("header", []):
        parameter["disabled"] = parameter.get("key") not in ("Content-Type", "Accept")
    for variable in request["url"].get("variable", []):
        variable["value"] = next(value for name, value in IDS.items() if name in request["url"]["path"])
    if request["method"] == "POST":
        new = {"email": f"postman-{os.getpid()}@example.com"}
        enrollment = {"studentId": IDS["students"], "courseId": IDS["courses"]}
        body = new if "students" in request["url"]["path"] else enrollment
        request["body"] = {"mode": "raw", "raw": json.dumps(body), "options": {"raw": {"language": "json"}}}


collection = json.load(open("collection.json"))
prepare(collection)
collection["auth"] = {"type": "bearer", "bearer": [{"key": "token", "value": KEY, "type": "string"}]}
script = "pm.test('status', () => pm.expect(pm.response.code).to.be.oneOf([200, 201]))"
collection["event"] = [{"listen": "test", "script": {"type": "text/javascript", "exec": [script]}}]
json.dump(collection, open("prepared.json", "w"))
command = ["newman", "run", "prepared.json", "--env-var", f"baseUrl={URL}/plain", "--reporters", "json"]
command += ["--reporter-json-export", "report.json"]
result = subprocess.run(command, capture_output=True, text=True)
run = json.load(open("report.json"))["run"]
requests = {execution["item"]["name"]: execution["response"]["code"] for execution in run["executions"]}
passed = result.returncode == 0 and len(requests) == 9
note = "" if passed else f"{len(requests)} requests: {requests}; {result.stdout[-200:]}"
print(json.dumps({"operations": {"result": "passed" if passed else "failed", "note": note}}))
