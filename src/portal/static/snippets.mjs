// Programs that send one request, in each language of the documentation.
//
// This module uses no DOM, so that the guides, the reference and Node share it. A request is {method, url, headers, body, variable,
// stream}.
// A header value is a text or a list of texts and one KEY, which stands for the credential: the program reads it from the environment
// variable `variable`, unless the reader asks for the key itself. Each program prints the body of the response, and fails unless the
// status is 2xx. With `stream`, the body consists of lines, and each is printed when it arrives.
// sample.rs generates the same programs for curl and Python.

/** The part of a header value that stands for the credential. No text is equal to it. */
export const KEY = Symbol("key");

/** The languages, in the order of their tabs. `run` is the command line that runs `file`. */
export const LANGUAGES = [
  { id: "curl", name: "curl", file: "sample.sh", run: ["sh"] },
  { id: "javascript", name: "JavaScript", file: "sample.mjs", run: ["node"] },
  { id: "python", name: "Python", file: "sample.py", run: ["python3"] },
  { id: "go", name: "Go", file: "sample.go", run: ["go", "run"] },
  { id: "php", name: "PHP", file: "sample.php", run: ["php"] },
  { id: "ruby", name: "Ruby", file: "sample.rb", run: ["ruby"] },
  { id: "java", name: "Java", file: "Sample.java", run: ["java"] },
];

/** Returns the request of a sample, the JSON of the attribute `data-sample`. */
export function sampleRequest({ method, path, headers, body, variable, stream }, baseUrl) {
  const text = typeof body === "string" || body === null || body === undefined ? body : JSON.stringify(body, null, 2);
  return { method, url: baseUrl + path, headers: { Authorization: ["Bearer ", KEY], ...headers }, body: text, variable, stream };
}

/** Returns the program that sends this request. With `key`, the program contains this key. */
export function snippet(language, request, { key } = {}) {
  const generate = GENERATORS[language];
  if (!generate) throw new Error(`unknown language: ${language}`);
  return generate(normalize(request, key)).trimEnd();
}

/**
 * Returns the request with an uppercase method and well-formed texts, without headers that change nothing. Header values are lists of
 * their parts.
 */
function normalize({ method, url, headers = {}, body, variable, stream }, key) {
  const parts = (value) =>
    Array.isArray(value) ? value.map((part) => (part === KEY ? (key ?? KEY) : wellFormed(part))) : [wellFormed(value).trim()];
  const shown = Object.entries(headers)
    .map(([name, value]) => [headerName(name), parts(value)])
    .filter(([name, [value]]) => name !== "Accept" || !["*/*", "application/json"].includes(value));
  const isEmpty = body === undefined || body === null || body === "";
  return { method: method.toUpperCase(), url: wellFormed(url), headers: shown, body: isEmpty ? null : wellFormed(body), variable, stream };
}

const headerName = (name) => name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());
// Lone surrogates cannot be sent as UTF-8, and some compilers reject them.
const wellFormed = (text) =>
  String(text).replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd");

/** Returns an expression of a header value: its texts, quoted, joined with the expression of the key. */
function headerValue(parts, quote, variable, operator) {
  const key = parts.indexOf(KEY);
  if (key < 0) return quote(parts.join(""));
  const texts = [parts.slice(0, key), parts.slice(key + 1)].map((list) => list.join("")).map((text) => text && quote(text));
  return [texts[0], variable, texts[1]].filter(Boolean).join(operator);
}

/** Returns the value of a JSON body, or undefined if a literal would change it. */
function jsonValue(body) {
  try {
    const value = JSON.parse(body);
    const tokens = body.replace(/("(?:[^"\\]|\\.)*")|\s+/g, "$1");
    return JSON.stringify(value) === tokens && !body.includes("__proto__") ? value : undefined;
  } catch {
    return undefined;
  }
}

// The escapes of JSON are valid in JavaScript, Python, Go and Java.
const doubleQuoted = (text) =>
  JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029\ufeff]/g, (character) => unicodeEscape(character));
/** Returns a literal for each line of a text, with its line break. */
const quotedLines = (text) => text.split(/(?<=\n)/).map(doubleQuoted);
const singleQuoted = (text) => `'${text.replace(/[\\']/g, "\\$&")}'`;
const unicodeEscape = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
const indented = (text, indent) => text.replaceAll("\n", `\n${indent}`);

function curl({ method, url, headers, body, variable: keyName, stream }) {
  const quote = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const header = ([name, parts]) => {
    // curl removes a header that ends with a colon.
    if (parts.every((part) => part === "")) return quote(`${name};`);
    if (!parts.includes(KEY)) return quote(`${name}: ${parts.join("")}`);
    const texts = parts.map((part) => (part === KEY ? `$${keyName}` : part.replace(/[\\"$`]/g, "\\$&")));
    return `"${name}: ${texts.join("")}"`;
  };
  const options = [];
  // curl would expand brackets and braces in the URL.
  if (/[[\]{}]/.test(url)) options.push("--globoff");
  if (method !== "GET") options.push(method === "HEAD" ? "--head" : `-X ${method}`);
  const lines = [`curl ${stream ? "-N " : ""}-sS --fail-with-body ${[...options, quote(url)].join(" ")}`];
  lines.push(...headers.map((entry) => `-H ${header(entry)}`));
  if (body !== null) lines.push(`${jsonValue(body) === undefined ? "--data-raw" : "-d"} ${quote(body)}`);
  return lines.join(" \\\n  ");
}

function javascript({ method, url, headers, body, variable: keyName, stream }) {
  const variable = `process.env.${keyName}`;
  const options = method === "GET" ? [] : [`  method: ${doubleQuoted(method)},\n`];
  const fields = headers.map(
    ([name, value]) => `    ${doubleQuoted(name)}: ${headerValue(value, doubleQuoted, variable, " + ")},\n`,
  );
  if (fields.length) options.push(`  headers: {\n${fields.join("")}  },\n`);
  if (body !== null) {
    const value = jsonValue(body);
    const literal = value === undefined ? quotedLines(body).join(" +\n    ") : `JSON.stringify(${indented(JSON.stringify(value, null, 2), "  ")})`;
    options.push(`  body: ${literal},\n`);
  }
  const argument = options.length ? `, {\n${options.join("")}}` : "";
  const [imports, print] = stream
    ? [
        'import { createInterface } from "node:readline";\nimport { Readable } from "node:stream";\n\n',
        "const lines = createInterface({ input: Readable.fromWeb(response.body) });\nfor await (const line of lines) console.log(line);",
      ]
    : ["", "console.log(await response.text());"];
  return `${imports}const response = await fetch(${doubleQuoted(url)}${argument});
${print}
if (!response.ok) process.exit(1);
`;
}

function pythonLiteral(value, indent) {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") return doubleQuoted(value);
  if (typeof value !== "object") return JSON.stringify(value);
  const inner = `${indent}    `;
  const items = Array.isArray(value)
    ? value.map((item) => `${inner}${pythonLiteral(item, inner)},\n`)
    : Object.entries(value).map(([name, item]) => `${inner}${doubleQuoted(name)}: ${pythonLiteral(item, inner)},\n`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return items.length ? `${open}\n${items.join("")}${indent}${close}` : open + close;
}

function python({ method, url, headers, body, variable: keyName, stream }) {
  const quote = (parts) => {
    if (!parts.includes(KEY)) return doubleQuoted(parts.join(""));
    const fields = parts.map((part) =>
      part === KEY ? `{os.environ['${keyName}']}` : doubleQuoted(part).slice(1, -1).replace(/[{}]/g, "$&$&"),
    );
    return `f"${fields.join("")}"`;
  };
  const usesKey = headers.some(([, parts]) => parts.includes(KEY));
  const call = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"].includes(method)
    ? `requests.${method.toLowerCase()}(\n`
    : `requests.request(\n    ${doubleQuoted(method)},\n`;
  const fields = headers.map(([name, value]) => `        ${doubleQuoted(name)}: ${quote(value)},\n`);
  const value = body === null ? undefined : jsonValue(body);
  const options = [];
  if (fields.length) options.push(`    headers={\n${fields.join("")}    },\n`);
  if (value !== undefined) options.push(`    json=${pythonLiteral(value, "    ")},\n`);
  else if (body !== null) options.push(`    data=(\n        ${quotedLines(body).join("\n        ")}\n    ).encode(),\n`);
  options.push("    timeout=30,\n");
  if (stream) options.push("    stream=True,\n");
  const print = stream ? "for line in response.iter_lines():\n    print(line.decode(), flush=True)" : "print(response.text)";
  return `${usesKey ? "import os\n" : ""}import sys

import requests

response = ${call}    ${doubleQuoted(url)},
${options.join("")})
${print}
if response.status_code // 100 != 2:
    sys.exit(1)
`;
}

function go({ method, url, headers, body, variable: keyName, stream }) {
  // A raw string cannot contain backquotes, and loses carriage returns.
  const isRaw = body !== null && !/[`\u0000-\u0008\u000b-\u001f\u007f\ufeff]/.test(body);
  const literal = isRaw ? `\`${body}\`` : doubleQuoted(body ?? "");
  const fields = headers.map(
    ([name, value]) =>
      `\trequest.Header.Set(${doubleQuoted(name)}, ${headerValue(value, doubleQuoted, `os.Getenv("${keyName}")`, "+")})\n`,
  );
  const fail = "\tif err != nil {\n\t\tpanic(err)\n\t}\n";
  const copy = `\t_, err = io.Copy(os.Stdout, response.Body)\n${fail}`;
  const print = `\ttext, err := io.ReadAll(response.Body)\n${fail}\tfmt.Println(string(text))\n`;
  return `package main

import (
${stream ? "" : '\t"fmt"\n'}\t"io"
\t"net/http"
\t"os"
${body === null ? "" : '\t"strings"\n'})

func main() {
${body === null ? "" : `\tbody := strings.NewReader(${literal})\n`}\trequest, err := http.NewRequest(${doubleQuoted(method)}, ${doubleQuoted(url)}, ${body === null ? "nil" : "body"})
${fail}${fields.join("")}\tresponse, err := http.DefaultClient.Do(request)
${fail}\tdefer response.Body.Close()
${stream ? copy : print}\tif response.StatusCode/100 != 2 {
\t\tos.Exit(1)
\t}
}
`;
}

function php({ method, url, headers, body, variable: keyName, stream }) {
  const variable = `getenv('${keyName}')`;
  const fields = headers.map(
    // curl removes a header that ends with a colon.
    ([name, parts]) => {
      const line = parts.every((part) => part === "") ? [`${name};`] : [`${name}: `, ...parts];
      return `        ${headerValue(line, singleQuoted, variable, " . ")},\n`;
    },
  );
  // Without this option, the body is printed when it arrives.
  const options = stream ? [] : ["    CURLOPT_RETURNTRANSFER => true,\n"];
  if (method !== "GET") options.push(`    CURLOPT_CUSTOMREQUEST => ${singleQuoted(method)},\n`);
  if (fields.length) options.push(`    CURLOPT_HTTPHEADER => [\n${fields.join("")}    ],\n`);
  if (body !== null) options.push(`    CURLOPT_POSTFIELDS => ${singleQuoted(body)},\n`);
  return `<?php
$curl = curl_init(${singleQuoted(url)});
curl_setopt_array($curl, [
${options.join("")}]);
$body = curl_exec($curl);
if ($body === false) {
    fwrite(STDERR, curl_error($curl) . "\\n");
    exit(1);
}
${stream ? "" : 'echo $body, "\\n";\n'}exit(intdiv(curl_getinfo($curl, CURLINFO_RESPONSE_CODE), 100) === 2 ? 0 : 1);
`;
}

function ruby({ method, url, headers, body, variable: keyName, stream }) {
  const variable = `ENV.fetch('${keyName}')`;
  const fields = headers.map(
    ([name, value]) => `request[${singleQuoted(name)}] = ${headerValue(value, singleQuoted, variable, " + ")}\n`,
  );
  return `require 'net/http'
${stream ? "\n$stdout.sync = true" : ""}
uri = URI(${singleQuoted(url)})
request = Net::HTTP::${method[0]}${method.slice(1).toLowerCase()}.new(uri)
${fields.join("")}${body === null ? "" : `request.body = ${singleQuoted(body)}\n`}response = Net::HTTP.start(uri.hostname, uri.port, use_ssl: uri.scheme == 'https') do |http|
  http.request(request)${stream ? " { |lines| lines.read_body { |part| $stdout.print part } }" : ""}
end
${stream ? "" : "puts response.body\n"}exit 1 unless response.is_a?(Net::HTTPSuccess)
`;
}

function java({ method, url, headers, body, variable: keyName, stream }) {
  // The encoding of source files depends on the system.
  const ascii = (text) => text.replace(/[^\x00-\x7f]/g, (character) => unicodeEscape(character));
  const quote = (text) => ascii(doubleQuoted(text));
  const textBlock = (text) => {
    const escaped = ascii(text.replaceAll("\\", "\\\\").replaceAll('"""', '\\"""'));
    return `"""\n${" ".repeat(16)}${indented(escaped, " ".repeat(16))}"""`;
  };
  const isBlock = body !== null && body.includes("\n") && jsonValue(body) !== undefined;
  const publisher = body === null ? "noBody()" : `ofString(${isBlock ? textBlock(body) : quote(body)})`;
  const variable = `System.getenv("${keyName}")`;
  const fields = headers.map(
    ([name, value]) => `            .header(${quote(name)}, ${headerValue(value, quote, variable, " + ")})\n`,
  );
  return `import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
${stream ? "import java.util.stream.Stream;\n" : ""}
public class Sample {
    public static void main(String[] arguments) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(${quote(url)}))
${fields.join("")}            .method(${quote(method)}, HttpRequest.BodyPublishers.${publisher})
            .build();
        HttpResponse<${stream ? "Stream<String>" : "String"}> response =
            HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.${stream ? "ofLines" : "ofString"}());
        ${stream ? "response.body().forEach(System.out::println)" : "System.out.println(response.body())"};
        System.exit(response.statusCode() / 100 == 2 ? 0 : 1);
    }
}
`;
}

const GENERATORS = { curl, javascript, python, go, php, ruby, java };
