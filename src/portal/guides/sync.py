"""Keeps creator-api up to date with a platform, and the platform with creator-api. Only the standard library.

Run: BASE_URL=http://127.0.0.1:8080 PLATFORM_TOKEN=svc_plat_... python3 sync.py changes.ndjson
"""

import http.client
import itertools
import json
import os
import pathlib
import sys
import threading
import time
import urllib.error
import urllib.request

API = os.environ["BASE_URL"] + "/platform/v1"
AUTH = {"Authorization": "Bearer " + os.environ["PLATFORM_TOKEN"]}
OUTBOX = pathlib.Path(sys.argv[1])  # your platform appends one change per line, in the order of its commits
STATE = pathlib.Path("sync-state.json")  # in production: rows of your database
BATCH_BYTES = 64 << 10  # this client reads no result before it has sent a batch, so batches are small
state = json.loads(STATE.read_text()) if STATE.exists() else {"bytes": 0, "cursor": None}
lock = threading.Lock()


def save(**changes):
    with lock:
        state.update(changes)
        new = STATE.with_suffix(".new")
        new.write_text(json.dumps(state))
        os.replace(new, STATE)


def call(path, body=None, headers={}):
    request = urllib.request.Request(API + path, body, AUTH | headers)
    return urllib.request.urlopen(request, timeout=60)


def send_changes():
    """Sends the changes after the stored position. Ids make it safe to send a change again."""
    with OUTBOX.open("rb") as file:
        file.seek(state["bytes"])
        lines = [line for line in file.readlines(BATCH_BYTES) if line.endswith(b"\n")]
    if not lines:
        return time.sleep(0.2)
    ends = list(itertools.accumulate(map(len, lines), initial=state["bytes"]))
    answered = 0
    with call("/changes", b"".join(lines), {"Content-Type": "application/x-ndjson"}) as response:
        for result in map(json.loads, response):
            answered = result["line"]
            if result["result"] == "rejected":  # correct it and send it again
                print("rejected", lines[answered - 1][:80], result["errors"], flush=True)
            save(bytes=ends[answered])
    if any(map(bytes.strip, lines[answered:])):
        raise OSError("the import ended early")
    save(bytes=ends[-1])  # the lines after the last result are empty


def receive_events():
    """Waits for the events after the stored cursor."""
    after = f"&cursor={state['cursor']}" if state["cursor"] else ""
    try:
        with call("/events?limit=1000&wait=30" + after) as response:
            page = json.load(response)
    except urllib.error.HTTPError as error:
        if error.code != 410:
            raise
        print("missed events: compare your data with the API", file=sys.stderr, flush=True)
        return save(cursor=None)
    for item in page["data"]:
        print(item["event"]["type"], item["event"]["id"], flush=True)  # your work; store the cursor with it
    save(cursor=page["pagination"]["cursor"])


def repeat(work):
    while True:
        try:
            work()
        except (OSError, ValueError, http.client.HTTPException) as error:
            print("retry in 2 s:", error, file=sys.stderr, flush=True)
            time.sleep(2)


threading.Thread(target=repeat, args=(receive_events,), daemon=True).start()
repeat(send_changes)
