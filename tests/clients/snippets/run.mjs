// Runs the samples of all pages in all languages against a server. Also compares the programs that the pages contain for readers
// without scripts with those of snippets.mjs.

import { LANGUAGES, runProgram, sampleRequest, snippet } from "./programs.mjs";

const { BASE_URL } = process.env;
const PARALLEL = 2;
const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", "#x27": "'", "#34": '"', "#38": "&", "#60": "<", "#62": ">" };
const unescape = (html) => html.replace(/&(#?\w+);/g, (entity, name) => ENTITIES[name] ?? entity);

async function text(path) {
  const response = await fetch(BASE_URL + path);
  if (!response.ok) throw new Error(`${path}: status ${response.status}`);
  return response.text();
}

/** Returns the samples of a page: their JSON, and the programs in the page by language. */
function pageSamples(html) {
  return html.split(/<div class="samples"/).slice(1).map((part) => {
    const [, json] = /^[^>]*?data-sample=(?:"([^"]*)"|'([^']*)')/.exec(part)?.filter((group) => group !== undefined) ?? [];
    const blocks = part.slice(0, part.indexOf("</div>")).matchAll(/<pre class="sample" data-language="(\w+)"[^>]*>([\s\S]*?)<\/pre>/g);
    const programs = Object.fromEntries([...blocks].map(([, language, code]) => [language, unescape(code.replace(/<[^>]+>/g, ""))]));
    return { sample: JSON.parse(unescape(json)), programs };
  });
}

/** Returns the operations of the contracts, as method and path. */
async function operations() {
  const found = [];
  for (const contract of ["v1", "platform-v1"]) {
    const { paths } = JSON.parse(await text(`/openapi/${contract}.json`));
    for (const [path, item] of Object.entries(paths)) {
      for (const [method, { operationId, requestBody }] of Object.entries(item)) {
        const hasBody = requestBody?.required ?? false;
        if (operationId) found.push({ id: operationId, method: method.toUpperCase(), pattern: pathPattern(path), hasBody });
      }
    }
  }
  return found;
}

const pathPattern = (path) => new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+").replaceAll(".", "\\.")}(\\?|$)`);

/** Returns the sample with an email that the server has not seen, and with the workspace of the demo. */
function unique(sample, name) {
  const isObject = sample.body !== null && typeof sample.body === "object";
  const body = isObject ? { ...sample.body } : sample.body;
  if (isObject && sample.path.endsWith("/students")) body.email = `${name}@example.com`;
  if (isObject && "workspace" in body) body.workspace = "demo";
  const headers = { ...sample.headers };
  if (headers["Idempotency-Key"]) headers["Idempotency-Key"] = name;
  return { ...sample, headers, body };
}

const pages = [...(await text("/llms.txt")).matchAll(/\]\(([^)]+)\)/g)]
  .map(([, link]) => new URL(link, BASE_URL).pathname.replace(/\.md$/, "").replace(/\/index$/, ""))
  .filter((path) => path.startsWith("/docs"));
const differences = [];
const samples = new Map();
for (const page of new Set(["/docs", ...pages])) {
  for (const { sample, programs } of pageSamples(await text(page))) {
    for (const [language, program] of Object.entries(programs)) {
      const expected = snippet(language, sampleRequest(sample, BASE_URL));
      if (program.trimEnd() !== expected) differences.push(`${page} (${language}):\n${program}\n--- instead of ---\n${expected}`);
    }
    // The key of the demo has no scopes of the Developer API, and its samples would delete the webhook that others need.
    if (!sample.path.startsWith("/developer/")) samples.set(JSON.stringify(sample), { page, sample });
  }
}

const known = await operations();
const rows = [...samples.values()].map(({ page, sample }) => {
  const operation = known.find(({ method, pattern }) => method === sample.method && pattern.test(sample.path));
  return { name: `${operation?.id ?? "?"} (${page})`, id: operation?.id, sample, results: {} };
});
const failures = known.filter(({ id }) => !rows.some((row) => row.id === id)).map(({ id }) => `${id} has no sample`);
for (const { name, sample } of rows.filter(({ id }) => known.some((operation) => operation.id === id && operation.hasBody))) {
  const request = sampleRequest(sample, BASE_URL);
  for (const { id: language } of LANGUAGES) {
    const hasBody = request.body && snippet(language, request) !== snippet(language, { ...request, body: null });
    if (!hasBody) failures.push(`${name} in ${language} has no body`);
  }
}
const tasks = rows.flatMap((row, number) => LANGUAGES.map((language) => ({ row, number, language })));
const run = Date.now().toString(36);
async function work() {
  for (let task = tasks.shift(); task; task = tasks.shift()) {
    const { row, number, language } = task;
    const request = sampleRequest(unique(row.sample, `${run}-${number}-${language.id}`), BASE_URL);
    const { code, output } = await runProgram(language, request).catch((error) => ({ code: -1, output: String(error) }));
    row.results[language.id] = code === 0 ? "ok" : "FAILED";
    if (code !== 0) failures.push(`${row.name} in ${language.name}:\n${output.slice(0, 1500)}`);
  }
}
await Promise.all(Array.from({ length: PARALLEL }, work));

const width = Math.max(...rows.map(({ name }) => name.length));
console.log(["operation".padEnd(width), ...LANGUAGES.map(({ id }) => id.padEnd(10))].join("  "));
for (const { name, results } of rows) {
  console.log([name.padEnd(width), ...LANGUAGES.map(({ id }) => results[id].padEnd(10))].join("  "));
}
console.log(`${rows.length} samples of ${known.length} operations in ${LANGUAGES.length} languages`);
for (const problem of [...differences, ...failures]) console.log(`\n${problem}`);
process.exitCode = differences.length || failures.length ? 1 : 0;
