// The errors of the package. All are subclasses of `CreatorApiError`.
import { isObject, parseJson } from "./json.js";
import type { components } from "./schema.js";

/** One error in a request, such as an invalid field. */
export type ErrorDetail = components["schemas"]["ErrorDetail"];

/** The base class of all errors of this package. */
export class CreatorApiError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** An argument that cannot be used, such as an API key with a line break. */
export class ConfigurationError extends CreatorApiError {}

/** No complete response arrived: the connection failed, was cut, or was too slow. `cause` is the last failure. */
export class ConnectionError extends CreatorApiError {}

/** The response is a success, but its body is not the JSON of the API. */
export class InvalidResponseError extends CreatorApiError {}

/** The API responded with an error. */
export class ApiError extends CreatorApiError {
  /** The status of the response. */
  readonly status: number;
  /** The code of the error, or `null` if the body is not an error of the API, such as the page of a proxy. */
  readonly code: string | null;
  /** The id of the request, for the support. */
  readonly requestId: string | null;
  /** The individual errors in the request. */
  readonly details: readonly ErrorDetail[];
  /** The seconds to wait before the next request, if the response has a `Retry-After`. */
  readonly retryAfterSeconds: number | null;

  constructor(response: Response, body: string) {
    const error = parseError(body);
    super(error?.message ?? `the server responded with status ${response.status}`);
    this.status = response.status;
    this.code = error?.code ?? null;
    this.requestId = error?.request_id ?? response.headers.get("x-request-id");
    this.details = error?.details ?? [];
    this.retryAfterSeconds = retryAfterSeconds(response.headers);
  }
}

/** The key is missing, unknown, expired or revoked. */
export class UnauthorizedError extends ApiError {}
/** The key does not have the scope of the operation. */
export class ForbiddenError extends ApiError {}
/** The record does not exist in the workspace of the key. */
export class NotFoundError extends ApiError {}
/** The limit of the minute or of the day is exhausted. */
export class RateLimitedError extends ApiError {}
/** The request is invalid; `details` names the fields. */
export class InvalidRequestError extends ApiError {}
/** The server failed. */
export class InternalError extends ApiError {}

const CLASSES: Record<string, typeof ApiError> = {
  unauthorized: UnauthorizedError,
  forbidden: ForbiddenError,
  not_found: NotFoundError,
  rate_limited: RateLimitedError,
  invalid_request: InvalidRequestError,
  internal_error: InternalError,
};

/** Returns the error of a response. Its class depends on the code; an unknown code is a plain `ApiError`. */
export function errorOf(response: Response, body: string): ApiError {
  const code = parseError(body)?.code ?? "";
  return new (Object.hasOwn(CLASSES, code) ? CLASSES[code]! : ApiError)(response, body);
}

/** Returns the seconds of `Retry-After`, which is a number or a date. */
export function retryAfterSeconds(headers: Headers): number | null {
  const value = headers.get("retry-after")?.trim();
  if (!value) return null;
  if (/^\d+$/.test(value)) return Number(value);
  // `Date.parse` also reads numbers as years.
  const date = /^[A-Z]/i.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(date) ? null : Math.max(0, (date - Date.now()) / 1000);
}

function parseError(body: string): components["schemas"]["Error"] | null {
  const json = parseJson(body);
  const error = isObject(json) ? json["error"] : undefined;
  return isObject(error) && typeof error["code"] === "string" ? (error as components["schemas"]["Error"]) : null;
}
