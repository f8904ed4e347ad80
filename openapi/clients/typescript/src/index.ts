// Client of the Creator Platform API.
export * from "./client.js";
export * from "./errors.js";
export * as webhooks from "./webhooks.js";
export { VERSION } from "./version.js";
export type { components, operations, paths } from "./schema.js";
