// The client: openapi-fetch with retries, idempotency keys, timeouts and typed errors, and the iterator over pages.
import createOpenApiClient, { type Client as OpenApiClient } from "openapi-fetch";
import { ConfigurationError, ConnectionError, InvalidResponseError, errorOf, retryAfterSeconds } from "./errors.js";
import { isObject, parseJson } from "./json.js";
import type { paths } from "./schema.js";
import { VERSION } from "./version.js";

/** The client. Its methods `GET` and `POST` take a path of the contract. */
export type Client = OpenApiClient<paths>;

/** The options of {@link createClient}. */
export interface ClientOptions {
  /** The URL of the server, without `/api/v1`. */
  baseUrl: string;
  /** The API key. */
  apiKey: string;
  /** The time limit of one attempt, in milliseconds. 30,000 by default. */
  timeoutMs?: number;
  /** How often a request is repeated after 408, 409, 429, a 5xx or a failed connection. 4 by default. */
  maxRetries?: number;
  /** The delay before the first retry, in milliseconds. It doubles with each retry. 500 by default. */
  baseDelayMs?: number;
  /** If `Retry-After` is longer, in milliseconds, the error is thrown at once. 60,000 by default. */
  maxDelayMs?: number;
  /** Sends the requests. The `fetch` of the platform by default. */
  fetch?: (request: Request) => Promise<Response>;
}

const RETRIED = new Set([408, 409, 429, 500, 502, 503, 504]);

/** Creates a client. */
export function createClient(options: ClientOptions): Client {
  if (!/^[\x21-\x7e]+$/.test(options.apiKey)) {
    throw new ConfigurationError("the API key is empty or contains a character that a header cannot contain");
  }
  return createOpenApiClient<paths>({
    baseUrl: options.baseUrl.replace(/\/+$/, ""),
    headers: {
      Authorization: `Bearer ${options.apiKey}`,
      "User-Agent": `creator-api-client-typescript/${VERSION}`,
    },
    fetch: (request) => send(request, options),
  });
}

/** Sends a request until it succeeds or must not be repeated. Throws an error for each status above 299 except 304. */
async function send(request: Request, options: ClientOptions): Promise<Response> {
  // One key for all attempts: the server creates a record at most once.
  if (request.method === "POST" && !request.headers.has("Idempotency-Key")) {
    request.headers.set("Idempotency-Key", crypto.randomUUID());
  }
  for (let retries = 0; ; retries++) {
    const isLast = retries >= (options.maxRetries ?? 4);
    const result = await attempt(request.clone(), options);
    if (result instanceof ConnectionError) {
      if (isLast) throw result;
      await sleep(backoffMs(retries, options), request.signal);
      continue;
    }
    const { response, body } = result;
    if (response.status < 300 || response.status === 304) return success(response, body);
    const waitMs = (retryAfterSeconds(response.headers) ?? 0) * 1000;
    if (isLast || !RETRIED.has(response.status) || waitMs > (options.maxDelayMs ?? 60_000)) {
      throw errorOf(response, body);
    }
    await sleep(waitMs + backoffMs(retries, options), request.signal);
  }
}

/** Sends a request once and reads the whole body, so that a connection that is cut in the body is noticed. */
async function attempt(request: Request, options: ClientOptions) {
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(options.timeoutMs ?? 30_000)]);
  try {
    // A redirected POST would become a GET, whose response looks like a success.
    const response = await (options.fetch ?? fetch)(new Request(request, { signal, redirect: "manual" }));
    return { response, body: await response.text() };
  } catch (cause) {
    if (request.signal.aborted) throw cause;
    return new ConnectionError(`no response from ${new URL(request.url).host}`, { cause });
  }
}

function success(response: Response, body: string): Response {
  if (response.status === 304) return new Response(null, { status: 304, headers: response.headers });
  if (!isObject(parseJson(body))) throw new InvalidResponseError("the body of the response is not a JSON object");
  return new Response(body, { status: response.status, headers: response.headers });
}

/** Returns a random delay between half and the whole of the current backoff, so that clients do not retry together. */
function backoffMs(retries: number, options: ClientOptions): number {
  const backoff = Math.min((options.baseDelayMs ?? 500) * 2 ** retries, 8_000);
  return backoff * (0.5 + Math.random() / 2);
}

function sleep(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => (clearTimeout(timer), reject(signal.reason));
    // A longer delay would overflow and end at once.
    const timer = setTimeout(() => (signal.removeEventListener("abort", abort), resolve()), Math.min(delayMs, 2 ** 31 - 1));
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
}

/** Returns the data of a response. Errors of the API were already thrown. */
export async function dataOf<T>(call: Promise<{ data?: T; response: Response }>): Promise<T> {
  const { data, response } = await call;
  if (data === undefined) throw new InvalidResponseError(`status ${response.status} has no body`);
  return data;
}

type Get<P extends keyof paths> = paths[P] extends { get: infer Operation } ? Operation : never;
type Query<P extends keyof paths> = Get<P> extends { parameters: { query?: infer Q } } ? NonNullable<Q> : never;
type PageOf<P extends keyof paths> = Get<P> extends {
  responses: { 200: { content: { "application/json": { data: (infer Item)[]; pagination: infer _ } } } };
}
  ? Item
  : never;

/** The paths of the lists. */
export type ListPath = { [P in keyof paths]: PageOf<P> extends never ? never : P }[keyof paths];

/** Iterates over all items of a list, and requests further pages when they are needed. */
export async function* paginate<P extends ListPath>(
  client: Client,
  path: P,
  query?: Query<P>,
): AsyncGenerator<PageOf<P>, void, undefined> {
  // openapi-fetch cannot infer the parameters of a path that is itself a type parameter.
  const get = client.GET as unknown as (path: P, init: object) => Promise<{ data?: Page<P>; response: Response }>;
  let cursor: string | null = null;
  do {
    const page: Page<P> = await dataOf(get(path, { params: { query: cursor ? { ...query, cursor } : query } }));
    if (!Array.isArray(page.data) || !isObject(page.pagination)) throw new InvalidResponseError("the response is not a page");
    yield* page.data;
    cursor = page.pagination.has_more ? page.pagination.cursor : null;
  } while (cursor !== null);
}

interface Page<P extends keyof paths> {
  data: PageOf<P>[];
  pagination: { cursor: string | null; has_more: boolean };
}
