"""Tests the server with schemathesis and all of its checks, and prints the cells of its row as JSON."""

import json
import os
import subprocess

command = ["schemathesis", "run", "v1.json", "--url", os.environ["BASE_URL"] + "/plain", "--checks", "all"]
command += ["--header", f"Authorization: Bearer {os.environ['API_KEY']}", "--max-examples", "20", "--seed", "1"]
command += ["--phases", "examples,coverage,fuzzing", "--no-color"]
result = subprocess.run(command, capture_output=True, text=True)
open("report.txt", "w").write(result.stdout + result.stderr)
passed = result.returncode == 0
note = "" if passed else " ".join(result.stdout.split("SUMMARY")[-1].split())[:300]
print(json.dumps({"operations": {"result": "passed" if passed else "failed", "note": note}}))
