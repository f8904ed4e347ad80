// Calls all operations of the Developer API with the types that openapi-typescript generates from the served contract.
import createClient from "openapi-fetch";
import type { components, paths } from "./developer-v1.js";

declare const process: { env: Record<string, string | undefined> };

const baseUrl = process.env["BASE_URL"] ?? "";
const authorize = (secret: string | undefined) => ({ Authorization: `Bearer ${secret}` });
const [secret] = (process.env["DEVELOPER_KEYS"] ?? "").split(" ");
const client = createClient<paths>({ baseUrl, headers: authorize(secret) });

/** Throws unless the operation succeeded; returns its response body. */
function check<T>(operation: string, response: { data?: T | undefined; error?: components["schemas"]["ErrorEnvelope"] | undefined }): T {
  if (response.data === undefined) throw new Error(`${operation}: ${response.error?.error.message}`);
  console.log(`${operation}: ok`);
  return response.data;
}

/** Throws unless the two are equal. */
function equal<T>(found: T, expected: T): void {
  if (found !== expected) throw new Error(`expected ${expected}, found ${found}`);
}

const key = check("getCurrentKey", await client.GET("/developer/v1/me"));
equal(key.workspace.name.length > 0, true);

const body: paths["/developer/v1/webhooks"]["post"]["requestBody"]["content"]["application/json"] = {
  url: "https://hooks.example.com/typescript",
  description: "TypeScript",
  event_types: ["student.created"],
  ed25519: false,
};
const header = { "Idempotency-Key": `typescript-${Date.now()}` };
const webhook = check("createWebhook", await client.POST("/developer/v1/webhooks", { body, params: { header } }));
const repeated = check("createWebhook", await client.POST("/developer/v1/webhooks", { body, params: { header } }));
equal(`${repeated.id} ${repeated.secret}`, `${webhook.id} ${webhook.secret}`);
const path = { id: webhook.id };
const list = check("listWebhooks", await client.GET("/developer/v1/webhooks", { params: { query: { limit: 1 } } }));
equal(list.data[0]?.id, webhook.id);
equal(check("getWebhook", await client.GET("/developer/v1/webhooks/{id}", { params: { path } })).description, "TypeScript");
const change = { description: null, rate: 5, filter: ["student.created /email exists"] };
const updated = check("updateWebhook", await client.PATCH("/developer/v1/webhooks/{id}", { params: { path }, body: change }));
equal(updated.description, null);
equal(updated.rate, 5);
const preview = await client.POST("/developer/v1/webhooks/{id}/preview-filter", { params: { path }, body: { filter: change.filter } });
equal(check("previewFilter", preview).event_types[0]?.event_type, "student.created");
const rotation = await client.POST("/developer/v1/webhooks/{id}/rotate-secret", { params: { path }, body: { overlap_seconds: 3600 } });
equal(check("rotateWebhookSecret", rotation).secret === webhook.secret, false);
const test = check("testWebhook", await client.POST("/developer/v1/webhooks/{id}/test", { params: { path }, body: {} }));
const delivery = { id: test.id };
equal(check("getDelivery", await client.GET("/developer/v1/deliveries/{id}", { params: { path: delivery } })).webhook_id, webhook.id);
check("listDeliveryAttempts", await client.GET("/developer/v1/deliveries/{id}/attempts", { params: { path: delivery } }));
check("deleteWebhook", { ...(await client.DELETE("/developer/v1/webhooks/{id}", { params: { path } })), data: true });

// The webhook of the demo receives the event of a new student.
const email = `typescript-${Date.now()}@example.com`;
const student = await fetch(`${baseUrl}/api/v1/students`, {
  method: "POST",
  headers: { ...authorize(process.env["API_KEY"]), "Content-Type": "application/json" },
  body: JSON.stringify({ email }),
});
equal(student.status, 201);
let delivered: string | undefined;
for (let attempt = 0; delivered === undefined && attempt < 50; attempt += 1) {
  await new Promise((resolve) => setTimeout(resolve, 200));
  const query = { state: "delivered" as const, event_type: "student.created" as const };
  delivered = check("listDeliveries", await client.GET("/developer/v1/deliveries", { params: { query } })).data[0]?.id;
}
if (delivered === undefined) throw new Error("the demo delivered no event");
const replayed = await client.POST("/developer/v1/deliveries/{id}/replay", { params: { path: { id: delivered } } });
equal(check("replayDelivery", replayed).replay_of, delivered);

const unknown = await client.GET("/developer/v1/webhooks/{id}", { params: { path } });
equal(unknown.error?.error.code, "not_found");

// The demo is no sandbox.
const made = await client.POST("/developer/v1/sandbox/events", { body: { type: "order.paid" } });
equal(made.error?.error.code, "forbidden");
const advanced = await client.POST("/developer/v1/sandbox/clock", { body: { advance_seconds: 60 } });
equal(advanced.error?.error.code, "forbidden");
console.log("createSandboxEvent, advanceSandboxClock: refused");

const events = check("listEvents", await client.GET("/developer/v1/events", { params: { query: { type: "student.created", limit: 1000 } } }));
const event = events.data.find((item) => (item.event["data"] as { email?: string }).email === email);
if (event === undefined) throw new Error("the event of the new student is not listed");
const stream = check("streamEvents", await client.GET("/developer/v1/events/stream", { params: { query: { since: 3600 } }, parseAs: "stream" }));
if (stream === null) throw new Error("the stream has no body");
const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
let lines = "";
while (!lines.includes(event.sequence)) {
  const { value, done } = await reader.read();
  if (done) throw new Error("the stream ended without the event");
  lines += value;
}
await reader.cancel();

const rotated = check("rotateCurrentKey", await client.POST("/developer/v1/keys/rotate", { body: { overlap_seconds: 0 } }));
equal((await client.GET("/developer/v1/me")).response.status, 401);
equal((await client.GET("/developer/v1/me", { headers: authorize(rotated.secret) })).response.status, 200);
