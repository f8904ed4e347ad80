// Runs the programs that snippets.mjs generates.

import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const { KEY, LANGUAGES, sampleRequest, snippet } = await import(process.env.SNIPPETS);

/** Runs the program of a request in a language. Returns its exit code and its output. `onOutput` gets the output so far. */
export async function runProgram(language, request, environment = {}, options = {}) {
  const folder = await mkdtemp(join(tmpdir(), "creator-api-snippet-"));
  try {
    const file = join(folder, language.file);
    await writeFile(file, `${snippet(language.id, request, options)}\n`);
    const [program, ...parameters] = language.run;
    const child = spawn(program, [...parameters, file], { env: { ...process.env, ...environment }, stdio: ["ignore", "pipe", "pipe"] });
    return await finish(child, options.onOutput);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function finish(child, onOutput = () => {}) {
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => onOutput((output += text)));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output }));
  });
}
