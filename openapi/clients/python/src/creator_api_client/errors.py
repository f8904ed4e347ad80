"""The errors of the package. All are subclasses of `CreatorApiError`."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any


class CreatorApiError(Exception):
    """The base class of all errors of this package."""


class ConfigurationError(CreatorApiError):
    """An argument that cannot be used, such as an API key with a line break."""


class ConnectionError(CreatorApiError):
    """No complete response arrived: the connection failed, was cut, or was too slow. `__cause__` is the last failure."""


class InvalidResponseError(CreatorApiError):
    """The response is a success, but its body is not JSON, or is not an object of the contract."""


class ApiError(CreatorApiError):
    """The API responded with an error.

    `status` is the status of the response, and `code` the code of the error, or None if the body is not an error of the API, such as
    the page of a proxy. `request_id` is for the support. `details` lists the individual errors in the request: dictionaries with
    `in`, `field` and `message`. `retry_after` contains the seconds of `Retry-After`.
    """

    def __init__(self, status: int, headers: Mapping[str, str], error: dict[str, Any]) -> None:
        super().__init__(error.get("message") or f"the server responded with status {status}")
        self.status = status
        self.code: str | None = error.get("code")
        self.request_id: str | None = error.get("request_id") or headers.get("x-request-id")
        details = error.get("details")
        self.details: list[dict[str, str]] = details if isinstance(details, list) else []
        self.retry_after = retry_after(headers)


class UnauthorizedError(ApiError):
    """The key is missing, unknown, expired or revoked."""


class ForbiddenError(ApiError):
    """The key does not have the scope of the operation."""


class NotFoundError(ApiError):
    """The record does not exist in the workspace of the key."""


class RateLimitedError(ApiError):
    """The limit of the minute or of the day is exhausted."""


class InvalidRequestError(ApiError):
    """The request is invalid; `details` names the fields."""


class InternalError(ApiError):
    """The server failed."""


_CLASSES: dict[str, type[ApiError]] = {
    "unauthorized": UnauthorizedError,
    "forbidden": ForbiddenError,
    "not_found": NotFoundError,
    "rate_limited": RateLimitedError,
    "invalid_request": InvalidRequestError,
    "internal_error": InternalError,
}


def error_of(status: int, headers: Mapping[str, str], body: bytes) -> ApiError:
    """Returns the error of a response. Its class depends on the code; an unknown code is a plain `ApiError`."""
    try:
        error = json.loads(body)["error"]
        code = error["code"]
    except (ValueError, LookupError, TypeError, RecursionError):
        code = None
    if not isinstance(code, str):
        return ApiError(status, headers, {})
    return _CLASSES.get(code, ApiError)(status, headers, error)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Returns the seconds of `Retry-After`, which is a number or a date."""
    value = headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]+", value):
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time()) if value.endswith("GMT") else None
    except (ValueError, OverflowError):
        return None
