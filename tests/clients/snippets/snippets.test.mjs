// The generated programs send what the request says, whatever characters it contains, and report failures.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, test } from "node:test";

import { KEY, LANGUAGES, runProgram, snippet } from "./programs.mjs";

const CHARACTERS = "' \" \\ \\n \\u0041 ` $HOME ${HOME} $(id) #{1} {key} %s é 😀 \u2028 \ufeff \u0001 </script>\ttab\nline \"\"\" @ --";
const SECRET = "svc_live_'$HOME\"\\";

let server;
let received;
/** Resolves when a program has printed the first line of a stream. */
let lineIsPrinted;
before(async () => {
  server = createServer(async (incoming, response) => {
    const parts = [];
    for await (const part of incoming) parts.push(part);
    received = { method: incoming.method, url: incoming.url, headers: incoming.headers, body: Buffer.concat(parts).toString() };
    if (incoming.url === "/stream") {
      response.write('{"line": 1}\n');
      await lineIsPrinted;
      return response.end('{"line": 2}\n');
    }
    response.writeHead(Number(incoming.headers["x-status"] ?? 200)).end("the body é");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
});
after(() => server.close());

const url = (path) => `http://127.0.0.1:${server.address().port}${path}`;
const authorized = { Authorization: ["Bearer ", KEY] };

for (const language of LANGUAGES) {
  test(`${language.name} sends all characters`, async () => {
    const value = { text: CHARACTERS, list: [1, true, null, -0.5, {}, []] };
    for (const body of [JSON.stringify(value), JSON.stringify(value, null, 2)]) {
      const text = "a'b\"c\\d$HOME`e#{1}{key}";
      const headers = { ...authorized, "content-type": "application/json", "X-Text": text, "X-Empty": "" };
      const request = { method: "post", url: url("/a?b=%27c%27&d=$HOME"), headers, body, variable: "CREATOR_API_KEY" };
      const { code, output } = await runProgram(language, request, { CREATOR_API_KEY: SECRET });
      assert.equal(code, 0, output);
      assert.match(output, /the body é/);
      assert.deepEqual([received.method, received.url], ["POST", "/a?b=%27c%27&d=$HOME"]);
      assert.deepEqual(JSON.parse(received.body), value);
      assert.equal(received.headers.authorization, `Bearer ${SECRET}`);
      assert.deepEqual([received.headers["x-text"], received.headers["x-empty"]], [text, ""]);
    }
  });

  test(`${language.name} sends a body that is not JSON byte for byte`, async () => {
    const body = '{"a": 1}\n{"a": 1.50, "é": "\'"}\n';
    const request = { method: "PUT", url: url("/lines"), headers: { "Content-Type": "application/x-ndjson" }, body };
    const { code, output } = await runProgram(language, request);
    assert.equal(code, 0, output);
    assert.deepEqual([received.method, received.body], ["PUT", body]);
  });

  test(`${language.name} fails unless the status is 2xx, and prints the body`, async () => {
    const { code, output } = await runProgram(language, { method: "GET", url: url("/"), headers: { "X-Status": "422" } });
    assert.notEqual(code, 0, output);
    assert.match(output, /the body é/);
  });

  test(`${language.name} prints the lines of a stream when they arrive`, { timeout: 60_000 }, async () => {
    let resolve;
    lineIsPrinted = new Promise((resolved) => (resolve = resolved));
    const onOutput = (output) => output.includes('"line": 1') && resolve();
    const { code, output } = await runProgram(language, { method: "GET", url: url("/stream"), stream: true }, {}, { onOutput });
    assert.equal(code, 0, output);
    assert.match(output, /"line": 1}\n\{"line": 2/);
    const failing = { method: "GET", url: url("/"), headers: { "X-Status": "422" }, stream: true };
    const failed = await runProgram(language, failing);
    assert.notEqual(failed.code, 0, failed.output);
    assert.match(failed.output, /the body é/);
  });

  test(`${language.name} contains the key only if the reader asks for it`, async () => {
    const request = { method: "GET", url: url("/"), headers: authorized, variable: "MY_KEY" };
    assert.match(snippet(language.id, request), /MY_KEY/);
    const { code, output } = await runProgram(language, request, {}, { key: SECRET });
    assert.equal(code, 0, output);
    assert.equal(received.headers.authorization, `Bearer ${SECRET}`);
  });
}

test("lone surrogates are replaced", () => {
  for (const { id } of LANGUAGES) {
    const text = snippet(id, { method: "POST", url: "http://h/", headers: {}, body: "a\ud800b" });
    assert.match(text, /\ufffd|\\ufffd/);
  }
});
