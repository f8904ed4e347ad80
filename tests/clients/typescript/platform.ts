// Calls all operations of the Platform API with the types that openapi-typescript generates from the served contract.
import createClient from "openapi-fetch";
import type { components, paths } from "./platform-v1.js";

declare const process: { env: Record<string, string | undefined> };

type Change = components["schemas"]["Change"];
type ChangeResult = components["schemas"]["ChangeResult"];

const client = createClient<paths>({
  baseUrl: process.env["BASE_URL"] ?? "",
  headers: { Authorization: `Bearer ${process.env["PLATFORM_TOKEN"]}` },
});

/** Throws unless the operation succeeded; returns its response body. */
function check<T>(operation: string, response: { data?: T | undefined; error?: components["schemas"]["ErrorEnvelope"] | undefined }): T {
  if (response.data === undefined) throw new Error(`${operation}: ${response.error?.error.message}`);
  console.log(`${operation}: ok`);
  return response.data;
}

const at = new Date().toISOString();
const workspace = `typescript-${Date.now()}`;
const changes: Change[] = [
  { change: "workspace.upsert", id: `${workspace}-1`, workspace, at, data: { key: workspace, name: "TypeScript", owner_email: "ts@example.com" } },
  { change: "student.upsert", id: `${workspace}-2`, workspace, at, data: { key: "ada", email: "ada@example.com" } },
  { change: "enrollment.grant", id: `${workspace}-3`, workspace, at, data: { student: "ada", course: "unknown" } },
];
const [first] = changes;
if (first === undefined) throw new Error("there are no changes");
// The contract describes one line. The body has a line for each change, and so does the response.
const text: string = check("importChanges", await client.POST("/platform/v1/changes", {
  body: first,
  bodySerializer: () => changes.map((change) => `${JSON.stringify(change)}\n`).join(""),
  headers: { "Content-Type": "application/x-ndjson" },
  parseAs: "text",
}));
const results: ChangeResult[] = text.trimEnd().split("\n").map((line) => JSON.parse(line));
const outcomes: string = results.map((result) => `${result.line} ${result.result}`).join(", ");
if (outcomes !== "1 applied, 2 applied, 3 rejected") throw new Error(`unexpected results: ${text}`);

const found: string[] = [];
let cursor: string | undefined;
for (let more = true; more; ) {
  const query = { after: at, limit: 1000, wait: 5, ...(cursor === undefined ? {} : { cursor }) };
  const page = check("listEvents", await client.GET("/platform/v1/events", { params: { query } }));
  found.push(...page.data.filter(({ event }) => event["type"] === "student.created").map((item) => item.sequence));
  cursor = page.pagination.cursor;
  more = found.length === 0 || page.pagination.has_more;
}
if (found.length !== 1) throw new Error(`the event of the new student is listed ${found.length} times`);

const link = check("createDashboardLink", await client.POST("/platform/v1/dashboard-links", { body: { workspace, email: "ts@example.com" } }));
// `fetch` is no navigation, so the link is not used, and the page asks for confirmation.
const page = await (await fetch(link.url)).text();
if (!page.includes("Sign in as ts@example.com")) throw new Error(`the link responds with ${page}`);

const unknown = await client.POST("/platform/v1/dashboard-links", { body: { workspace: "unknown", email: "ts@example.com" } });
if (unknown.error?.error.code !== "not_found") throw new Error("expected the error code `not_found`");
