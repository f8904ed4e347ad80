// Plays the scenarios of tests/clients/scripted/expectations.json and the test vectors of webhook signatures.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import * as api from "creator-api-client";

const repository = new URL("../../../../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, repository), "utf8");
const file = JSON.parse(read("tests/clients/scripted/expectations.json"));
const server = spawn("python3", [new URL("tests/clients/scripted/server.py", repository).pathname], {
  stdio: ["pipe", "pipe", "inherit"],
});
let url = "";

before(async () => {
  [url] = (await once(createInterface(server.stdout), "line")) as [string];
});
after(() => server.stdin.end());

function kindOf(error: unknown): object {
  if (error instanceof api.ApiError) {
    const { status, code, requestId, retryAfterSeconds, details } = error;
    const fields = details.map((detail) => detail.field);
    return { kind: "api", status, code, request_id: requestId, retry_after: retryAfterSeconds, fields };
  }
  if (error instanceof api.webhooks.WebhookVerificationError) return { kind: "verification", reason: error.reason };
  if (error instanceof api.ConfigurationError) return { kind: "configuration" };
  if (error instanceof api.ConnectionError) return { kind: "connection" };
  if (error instanceof api.InvalidResponseError) return { kind: "invalid_response" };
  throw error;
}

/** Makes the call of a scenario. The items of a list are added to `outcome` one by one. */
async function run(name: string, call: any, outcome: Record<string, unknown>): Promise<void> {
  if (call.operation === "verify") {
    outcome["event"] = api.webhooks.verify(call.body, call.headers, call.secrets, { now: call.now });
    return;
  }
  const { timeout_ms: timeoutMs, max_retries: maxRetries, base_delay_ms: baseDelayMs } = file.options;
  const apiKey = call.api_key ?? file.api_key;
  const client = api.createClient({ baseUrl: `${url}/s/${name}`, apiKey, timeoutMs, maxRetries, baseDelayMs });
  switch (call.operation) {
    case "createStudent":
      outcome["value"] = await api.dataOf(client.POST("/api/v1/students", { body: call.body }));
      break;
    case "getOrder":
      outcome["value"] = await api.dataOf(client.GET("/api/v1/orders/{id}", { params: { path: { id: call.id } } }));
      break;
    case "listStudents": {
      const items: string[] = [];
      outcome["items"] = items;
      for await (const student of api.paginate(client, "/api/v1/students", call.query)) items.push(student.id);
      break;
    }
    default:
      throw new Error(`unknown operation ${call.operation}`);
  }
}

async function report(name: string, outcome: object): Promise<void> {
  const response = await fetch(`${url}/outcome/${name}`, { method: "POST", body: JSON.stringify(outcome) });
  assert.deepEqual((await response.json()).violations, []);
}

for (const { name, about, call } of file.scenarios) {
  if (call.operation === "readme") continue;
  test(`${name}: ${about}`, async () => {
    const outcome: Record<string, unknown> = {};
    await run(name, call, outcome).catch((error) => (outcome["error"] = kindOf(error)));
    await report(name, outcome);
  });
}

test("the code of the README runs", async () => {
  process.env["CREATOR_API_URL"] = `${url}/s/readme`;
  process.env["CREATOR_API_KEY"] = file.api_key;
  process.env["WEBHOOK_SECRET"] = file.scenarios.find((other: any) => other.name === "event").call.secrets[0];
  const readme = await import(new URL("readme.js", import.meta.url).href);
  await report("readme", { items: readme.emails.length });
  const { call } = file.scenarios.find((other: any) => other.name === "event");
  const now = Math.floor(Date.now() / 1000);
  const { createHmac } = await import("node:crypto");
  const receive = (body: string) => {
    const signature = createHmac("sha256", call.secrets[0]).update(`${now}.${body}`).digest("hex");
    return readme.receive(body, { "x-svc-signature": `t=${now},v1=${signature}` });
  };
  assert.equal(receive(call.body), 204);
  assert.equal(receive(call.body), 204, "a replayed event is accepted and skipped");
  assert.equal(receive(JSON.stringify({ ...JSON.parse(call.body), id: "evt_2", test: true })), 204, "a test event is skipped");
  assert.equal(receive("[]"), 500, "an event that cannot be read is sent again");
  assert.equal(readme.receive(call.body, { "x-svc-signature": "t=1,v1=0" }), 400);
  assert.deepEqual(readme.welcomed, ["jonas.weber@example.com"]);
});

for (const vector of JSON.parse(read("src/webhooks/vectors.json")).vectors) {
  test(`vector: ${vector.name}`, () => {
    const headers: Record<string, string>[] = [{ "X-SVC-Signature": vector.x_svc_signature }];
    if (vector.webhook_id) {
      const { webhook_id, webhook_timestamp, webhook_signature } = vector;
      headers.push({ "Webhook-Id": webhook_id, "Webhook-Timestamp": webhook_timestamp, "Webhook-Signature": webhook_signature });
    }
    for (const each of headers) {
      const verify = () => api.webhooks.verifySignature(vector.body, each, vector.secret, { now: vector.now });
      if (vector.valid) verify();
      else assert.throws(verify, { reason: vector.reject });
    }
  });
}

test("the version is that of package.json", () => {
  const { version } = JSON.parse(read("openapi/clients/typescript/package.json"));
  assert.equal(api.VERSION, version);
});
