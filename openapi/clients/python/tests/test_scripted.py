"""Plays the scenarios of tests/clients/scripted/expectations.json and the test vectors of webhook signatures."""

import asyncio
import gzip
import hashlib
import hmac
import json
import pathlib
import re
import subprocess
import sys
import time
import traceback
import unittest
import unittest.mock
import urllib.request

import creator_api_client as api
import httpx
from creator_api_client.generated.api.orders import get_order
from creator_api_client.generated.api.students import create_student, list_students
from creator_api_client.generated.models import NewStudent

REPOSITORY = pathlib.Path(__file__).resolve().parents[4]
SCRIPTED = REPOSITORY / "tests/clients/scripted"
FILE = json.loads((SCRIPTED / "expectations.json").read_text())


def kind_of(error):
    """Describes an error as the expectations do."""
    if isinstance(error, api.ApiError):
        fields = [detail["field"] for detail in error.details]
        names = ["status", "code", "request_id", "retry_after"]
        return {"kind": "api", "fields": fields, **{name: getattr(error, name) for name in names}}
    if isinstance(error, api.webhooks.WebhookVerificationError):
        return {"kind": "verification", "reason": error.reason}
    kinds = {
        api.ConfigurationError: "configuration",
        api.ConnectionError: "connection",
        api.InvalidResponseError: "invalid_response",
    }
    return {"kind": kinds[type(error)]}


class Scripted(unittest.TestCase):
    """Runs against the scripted server."""

    @classmethod
    def setUpClass(cls):
        cls.server = subprocess.Popen(
            [sys.executable, SCRIPTED / "server.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        cls.url = cls.server.stdout.readline().strip()

    @classmethod
    def tearDownClass(cls):
        cls.server.communicate()

    def run_call(self, name, call, outcome, function):
        """Makes the call of a scenario with `sync` or `asyncio`. The items of a list are added to `outcome` one by one."""
        if call["operation"] == "verify":
            body, headers, secrets = call["body"].encode(), call["headers"], call["secrets"]
            outcome["event"] = api.webhooks.verify(body, headers, secrets, now=call["now"]).to_dict()
            return
        options = FILE["options"]
        client = api.create_client(
            f"{self.url}/s/{name}",
            call.get("api_key", FILE["api_key"]),
            timeout=options["timeout_ms"] / 1000,
            max_retries=options["max_retries"],
            base_delay=options["base_delay_ms"] / 1000,
        )
        try:
            if call["operation"] == "listStudents":
                outcome["items"] = []
                with client:
                    for student in api.paginate(list_students.sync, client, **call["query"]):
                        outcome["items"].append(student.id)
                return
            operation, arguments = get_order, {"id": call.get("id")}
            if call["operation"] == "createStudent":
                operation, arguments = create_student, {"body": NewStudent.from_dict(call["body"])}
            if function == "sync":
                with client:
                    result = operation.sync(client=client, **arguments)
            else:
                result = asyncio.run(self.run_asyncio(client, operation, arguments))
            outcome["value"] = api.data_of(result).to_dict()
        finally:
            self.assertNotIn(FILE["api_key"], repr(client))

    async def run_asyncio(self, client, operation, arguments):
        async with client:
            return await operation.asyncio(client=client, **arguments)

    def report(self, name, outcome):
        request = urllib.request.Request(f"{self.url}/outcome/{name}", json.dumps(outcome).encode())
        with urllib.request.urlopen(request) as response:
            self.assertEqual(json.load(response)["violations"], [])

    def test_scenarios(self):
        for scenario in FILE["scenarios"]:
            name, call = scenario["name"], scenario["call"]
            functions = {"readme": [], "getOrder": ["sync", "asyncio"], "createStudent": ["sync", "asyncio"]}
            for function in functions.get(call["operation"], ["sync"]):
                with self.subTest(name, about=scenario["about"], function=function):
                    outcome = {}
                    try:
                        self.run_call(name, call, outcome, function)
                    except api.CreatorApiError as error:
                        outcome["error"] = kind_of(error)
                        self.assertNotIn(call.get("api_key", FILE["api_key"]), "".join(traceback.format_exception(error)))
                    self.report(name, outcome)

    def test_content_encoding(self):
        """A body that cannot be decoded is an error of the package, too."""
        missing = gzip.compress(b'{"error": {"code": "not_found"}}')
        for status, body, kind in [
            (200, b"not gzip", api.InvalidResponseError),
            (503, b"not gzip", api.ApiError),
            (404, missing, api.NotFoundError),
        ]:
            response = httpx.Response(status, headers={"Content-Encoding": "gzip"}, stream=httpx.ByteStream(body))
            transport = httpx.MockTransport(lambda request, response=response: response)
            client = api.create_client("http://localhost", "key", base_delay=0, transport=transport)
            with self.subTest(status=status), self.assertRaises(kind):
                get_order.sync("ord_1", client=client)

    def test_the_code_of_the_readme_runs(self):
        readme = (REPOSITORY / "openapi/clients/python/README.md").read_text()
        code = "\n".join(re.findall(r"```python\n(.*?)```", readme, re.DOTALL))
        call = next(scenario["call"] for scenario in FILE["scenarios"] if scenario["name"] == "event")
        secret, body = call["secrets"][0], call["body"].encode()
        environment = {"CREATOR_API_URL": f"{self.url}/s/readme", "CREATOR_API_KEY": FILE["api_key"]}
        with unittest.mock.patch.dict("os.environ", {**environment, "WEBHOOK_SECRET": secret}):
            scope = {}
            exec(compile(code, "README.md", "exec"), scope)
            self.report("readme", {"items": len(scope["emails"])})

            def receive(body):
                now = int(time.time())
                signature = hmac.new(secret.encode(), b"%d." % now + body, hashlib.sha256).hexdigest()
                return scope["receive"](body, {"X-SVC-Signature": f"t={now},v1={signature}"})

            self.assertEqual(receive(json.dumps({**json.loads(body), "test": True}).encode()), 204, "a test event")
            failing = unittest.mock.Mock(**{"append.side_effect": OSError})
            with unittest.mock.patch.dict(scope, welcomed=failing), self.assertRaises(OSError):
                receive(body)
            self.assertEqual(scope["welcomed"], [])
            self.assertEqual(receive(body), 204, "the retry does the work")
            self.assertEqual(receive(body), 204, "a replayed event is accepted and skipped")
            self.assertEqual(receive(b"{}"), 500, "an event that cannot be read is retried")
            self.assertEqual(scope["receive"](body, {"X-SVC-Signature": "t=1,v1=0"}), 400)
        self.assertEqual(scope["welcomed"], ["jonas.weber@example.com"])

    def test_vectors(self):
        for vector in json.loads((REPOSITORY / "src/webhooks/vectors.json").read_text())["vectors"]:
            headers = [{"X-SVC-Signature": vector["x_svc_signature"]}]
            if "webhook_id" in vector:
                names = ["webhook_id", "webhook_timestamp", "webhook_signature"]
                headers.append({name.replace("_", "-").title(): vector[name] for name in names})
            for each in headers:
                with self.subTest(vector["name"], headers=each):
                    arguments = vector["body"].encode(), each, vector["secret"]
                    if vector["valid"]:
                        api.webhooks.verify_signature(*arguments, now=vector["now"])
                    else:
                        with self.assertRaises(api.webhooks.WebhookVerificationError) as raised:
                            api.webhooks.verify_signature(*arguments, now=vector["now"])
                        self.assertEqual(raised.exception.reason, vector["reject"])


if __name__ == "__main__":
    unittest.main()
