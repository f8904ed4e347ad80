// What the adapters of all TypeScript clients share. checks.py describes the protocol.
import { createHmac } from "node:crypto";
import { createInterface } from "node:readline";

/** The operations of a client. Each returns the body of the response. */
export type Operations = Record<string, (args: any) => Promise<unknown>>;
/** Parsers of events, by type. */
export type Events = Record<string, (body: string) => unknown>;

/** A response with an error. */
export class Failure extends Error {
  constructor(readonly response: Response, readonly body: any) {
    super(`status ${response.status}`);
  }
}

/** Returns the data of a response, or throws its error. */
export function unwrap<T>(result: { data?: T | undefined; error?: unknown; response?: Response }): T {
  if (result.data !== undefined) return result.data;
  throw result.response ? new Failure(result.response, result.error) : result.error;
}

function event(args: { body: string; headers: Record<string, string>; secret: string }, events: Events): object {
  const header = Object.entries(args.headers).find(([name]) => name.toLowerCase() === "x-svc-signature")![1];
  const [time, signature] = [/t=(\d+)/, /v1=(\w+)/].map((pattern) => pattern.exec(header)![1]!);
  if (createHmac("sha256", args.secret).update(`${time}.${args.body}`).digest("hex") !== signature) {
    return { error: { code: "signature" } };
  }
  const { type } = JSON.parse(args.body);
  const parse = events[type];
  return { value: parse ? parse(args.body) : { unknown: type } };
}

/** Answers the calls from standard input. */
export async function serve(connect: (url: string, key: string) => Operations, events: Events): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    const call = JSON.parse(line);
    let result: object;
    try {
      result =
        call.operation === "event"
          ? event(call.arguments, events)
          : { value: await connect(call.url, call.key)[call.operation]!(call.arguments) };
    } catch (error) {
      result = { exception: String(error) };
      if (error instanceof Failure) {
        const { code, details } = error.body?.error ?? {};
        const fields = details?.map((detail: { field: string }) => detail.field) ?? [];
        const retry_after = error.response.headers.get("retry-after");
        result = { error: { status: error.response.status, code, retry_after, fields } };
      }
    }
    // Some clients use `bigint` for integers of 64 bits.
    console.log(JSON.stringify(result, (_, value) => (typeof value === "bigint" ? Number(value) : value)));
  }
}
