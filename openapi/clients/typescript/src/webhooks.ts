// Verifies webhook requests and parses their events.
import { createHmac, timingSafeEqual } from "node:crypto";
import { ConfigurationError, CreatorApiError } from "./errors.js";
import { isObject, parseJson } from "./json.js";
import type { webhooks } from "./schema.js";

/** The base64 of at least one byte, with its padding: anybody can sign with an empty key. */
const SECRET = /^whsec_(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$/;

/** Why a webhook request was rejected. */
export type RejectReason = "malformed" | "too_old" | "too_new" | "no_match" | "invalid_body";

/** The request was not sent by the service, is too old, or is not an event. */
export class WebhookVerificationError extends CreatorApiError {
  constructor(readonly reason: RejectReason) {
    super(`the webhook request was rejected: ${reason}`);
  }
}

type Body<Webhook> = Webhook extends { post: { requestBody: { content: { "application/json": infer B } } } } ? B : never;

/** The events of the contract, by type. */
export type Events = { [Type in keyof webhooks]: Body<webhooks[Type]> };
/** An event of a type that the contract has. `event.type` selects the type of `data`. */
export type KnownEvent = Events[keyof Events];
/** An event of a type that was added after this version of the package. */
export interface UnknownEvent {
  id: string;
  type: string;
  created_at: string;
  workspace_id: string;
  test?: boolean;
  data: Record<string, unknown>;
}

/** The headers of a request: an object of Node.js or of an object literal, or `Headers`. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>;

/** The options of {@link verify}. */
export interface VerifyOptions {
  /** The current time in Unix seconds, for tests. */
  now?: number;
  /** How much the time of the request can differ from the clock, in seconds. 300 by default. */
  toleranceSeconds?: number;
}

/**
 * Verifies a webhook request and returns its event.
 *
 * @param rawBody The bytes of the body as they arrived. JSON that was parsed and serialized again has other bytes.
 * @param secrets The signing secret, or several while a secret is rotated.
 * @throws {WebhookVerificationError} if the request must be rejected.
 */
export function verify(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  options: VerifyOptions = {},
): KnownEvent | UnknownEvent {
  verifySignature(rawBody, headers, secrets, options);
  return parseEvent(typeof rawBody === "string" ? rawBody : new TextDecoder().decode(rawBody));
}

/** Returns whether an event has this type, and selects the type of its `data`. */
export function isEvent<Type extends keyof Events>(event: { type: string }, type: Type): event is Events[Type] {
  return event.type === type;
}

/** Verifies the signature of a webhook request: `X-SVC-Signature` or, without it, that of Standard Webhooks. */
export function verifySignature(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  { now = Date.now() / 1000, toleranceSeconds = 300 }: VerifyOptions = {},
): void {
  const keys = typeof secrets === "string" ? [secrets] : secrets;
  if (keys.length === 0 || !keys.every((key) => SECRET.test(key))) {
    throw new ConfigurationError("a signing secret consists of whsec_ and base64, without a line break");
  }
  const signature = header(headers, "x-svc-signature");
  const signed = signature === undefined ? standardWebhooks(headers) : svcSignature(signature);
  const age = now - Number(signed.time);
  if (Math.abs(age) > toleranceSeconds) throw new WebhookVerificationError(age > 0 ? "too_old" : "too_new");
  const isValid = keys.some((secret) => {
    const key = signed.encoding === "hex" ? secret : Buffer.from(secret.slice("whsec_".length), "base64");
    const expected = createHmac("sha256", key).update(`${signed.prefix}.`).update(rawBody).digest(signed.encoding);
    return signed.signatures.some((candidate) => isEqual(expected, candidate));
  });
  if (!isValid) throw new WebhookVerificationError("no_match");
}

interface Signed {
  time: string;
  /** What is signed before the body. */
  prefix: string;
  signatures: string[];
  encoding: "hex" | "base64";
}

function svcSignature(header: string): Signed {
  const pairs = header.split(",").map((part) => [part.split("=", 1)[0], part.slice(part.indexOf("=") + 1)]);
  const values = (name: string) => pairs.filter((pair) => pair[0] === name).map((pair) => pair[1]!);
  const times = values("t");
  return { time: time(times.length === 1 ? times[0] : ""), prefix: times[0]!, signatures: values("v1"), encoding: "hex" };
}

function standardWebhooks(headers: WebhookHeaders): Signed {
  const id = header(headers, "webhook-id");
  const timestamp = time(header(headers, "webhook-timestamp"));
  const signatures = (header(headers, "webhook-signature") ?? "").split(" ").filter((part) => part.startsWith("v1,"));
  if (!id) throw new WebhookVerificationError("malformed");
  return {
    time: timestamp,
    prefix: `${id}.${timestamp}`,
    signatures: signatures.map((part) => part.slice("v1,".length)),
    encoding: "base64",
  };
}

function time(text: string | undefined): string {
  if (!/^\d{1,15}$/.test(text ?? "")) throw new WebhookVerificationError("malformed");
  return text!;
}

function isEqual(expected: string, candidate: string): boolean {
  const [left, right] = [Buffer.from(expected), Buffer.from(candidate)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function header(headers: WebhookHeaders, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const value = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return typeof value === "string" ? value : value?.join(",");
}

function parseEvent(text: string): KnownEvent | UnknownEvent {
  const event = parseJson(text);
  if (!isObject(event) || typeof event["id"] !== "string" || typeof event["type"] !== "string" || !isObject(event["data"])) {
    throw new WebhookVerificationError("invalid_body");
  }
  return event as unknown as KnownEvent | UnknownEvent;
}
