// Writes the TypeScript of the README to readme.ts, which scripted.test.ts imports.
import { readFileSync, writeFileSync } from "node:fs";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const blocks = [...readme.matchAll(/```ts\n(.*?)```/gs)].map((match) => match[1]);
writeFileSync(new URL("readme.ts", import.meta.url), blocks.join("\n"));
