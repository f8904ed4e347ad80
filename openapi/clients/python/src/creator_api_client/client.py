"""The client: a transport of httpx with retries, idempotency keys and typed errors, and the iterator over pages."""

from __future__ import annotations

import contextlib
import itertools
import json
import random
import re
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from typing import Any, Protocol, TypeVar

import httpx

from .errors import ConfigurationError, ConnectionError, InvalidResponseError, error_of, retry_after
from .generated import AuthenticatedClient
from .generated.models import ErrorEnvelope, Pagination
from .generated.types import UNSET

_RETRIED = {408, 409, 429, 500, 502, 503, 504}
_LONGEST_BACKOFF = 8.0

T = TypeVar("T")
Item = TypeVar("Item", covariant=True)


def create_client(
    base_url: str,
    api_key: str,
    *,
    timeout: float = 30.0,
    max_retries: int = 4,
    base_delay: float = 0.5,
    max_delay: float = 60.0,
    transport: httpx.BaseTransport | None = None,
) -> AuthenticatedClient:
    """Creates a client. Pass it to the functions `sync` and `sync_detailed` of the operations.

    Args:
        base_url: The URL of the server, without `/api/v1`.
        api_key: The API key.
        timeout: The time limit in seconds for connecting, and for each read and write.
        max_retries: How often a request is repeated after 408, 409, 429, a 5xx or a failed connection.
        base_delay: The delay in seconds before the first retry. It doubles with each retry.
        max_delay: If `Retry-After` is longer, in seconds, the error is raised at once.
        transport: Sends the requests.
    """
    if not re.fullmatch(r"[\x21-\x7e]+", api_key):
        raise ConfigurationError("the API key is empty or contains a character that a header cannot contain")
    retries = _RetryTransport(transport or httpx.HTTPTransport(), max_retries, base_delay, max_delay)
    return AuthenticatedClient(
        base_url=base_url.rstrip("/"),
        token=api_key,
        headers={"User-Agent": f"creator-api-client-python/{version('creator-api-client')}"},
        timeout=httpx.Timeout(timeout),
        httpx_args={"transport": retries},
    )


class _RetryTransport(httpx.BaseTransport):
    """Sends a request until it succeeds or must not be repeated. Raises an error for each status above 399."""

    def __init__(self, inner: httpx.BaseTransport, max_retries: int, base_delay: float, max_delay: float) -> None:
        self._inner, self._max_retries = inner, max_retries
        self._base_delay, self._max_delay = base_delay, max_delay

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        # One key for all attempts: the server creates a record at most once.
        if request.method == "POST":
            request.headers.setdefault("Idempotency-Key", str(uuid.uuid4()))
        for retries in itertools.count():
            is_last = retries >= self._max_retries
            try:
                # Read the whole body, so that a connection that is cut in the body is noticed.
                with contextlib.closing(self._inner.handle_request(request)) as response:
                    response.read()
            except httpx.TransportError as cause:
                if is_last:
                    raise ConnectionError(f"no response from {request.url.host}") from cause
                self._sleep(retries)
                continue
            if response.status_code < 400:
                return _success(response)
            wait = retry_after(response.headers) or 0.0
            if is_last or response.status_code not in _RETRIED or wait > self._max_delay:
                raise error_of(response.status_code, response.headers, response.content)
            self._sleep(retries, wait)
        raise AssertionError("unreachable")

    def _sleep(self, retries: int, wait: float = 0.0) -> None:
        # Random, so that clients do not retry together.
        backoff = min(self._base_delay * 2.0**retries, _LONGEST_BACKOFF)
        time.sleep(wait + backoff * random.uniform(0.5, 1.0))

    def close(self) -> None:
        self._inner.close()


def _success(response: httpx.Response) -> httpx.Response:
    if response.status_code != 304:
        try:
            json.loads(response.content)
        except ValueError as cause:
            raise InvalidResponseError("the body of the response is not JSON") from cause
    return response


def data_of(result: T | ErrorEnvelope | None) -> T:
    """Returns the data of a response. Errors of the API were already raised."""
    if result is None or isinstance(result, ErrorEnvelope):
        raise InvalidResponseError("the response has no data")
    return result


class _Page(Protocol[Item]):
    @property
    def data(self) -> Sequence[Item]: ...

    @property
    def pagination(self) -> Pagination: ...


def paginate(
    operation: Callable[..., _Page[Item] | ErrorEnvelope | None], client: AuthenticatedClient, **query: Any
) -> Iterator[Item]:
    """Iterates over all items of a list, and requests further pages when they are needed.

    `operation` is the function `sync` of a list, such as `list_students.sync`, and `query` its arguments.
    """
    cursor: Any = UNSET
    while cursor is not None:
        page = data_of(operation(client=client, cursor=cursor, **query))
        yield from page.data
        cursor = page.pagination.cursor if page.pagination.has_more else None
