"""Receives webhooks on this machine. Needs verify.py. Run: WEBHOOK_SECRET=whsec_... python3 receiver.py 9000"""

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from verify import verify

handled = set()  # in production: a table with a unique key, written in the same transaction as the work


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not verify(os.environ["WEBHOOK_SECRET"], self.headers.get("X-SVC-Signature", ""), body):
            return self.respond(400)
        event = json.loads(body)
        if event.get("test"):
            print("test event", event["type"], event["id"], flush=True)  # its data is fictional
        elif event["id"] not in handled:
            handled.add(event["id"])
            print(event["type"], event["id"], flush=True)
        self.respond(204)

    def respond(self, status):
        self.send_response(status)
        self.end_headers()


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver)
print(f"listening on http://127.0.0.1:{server.server_port}/", flush=True)
server.serve_forever()
