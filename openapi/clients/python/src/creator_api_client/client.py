"""The client: a transport of httpx with retries, idempotency keys and typed errors, and the iterator over pages."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import itertools
import math
import pkgutil
import random
import re
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Protocol, TypeVar

import httpx

from .errors import ConfigurationError, ConnectionError, InvalidResponseError, error_of, retry_after
from .generated import AuthenticatedClient, api
from .generated.models import ErrorEnvelope, Pagination
from .generated.types import UNSET, Unset

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
    async_transport: httpx.AsyncBaseTransport | None = None,
) -> AuthenticatedClient:
    """Creates a client. Pass it to the functions of the operations, such as `sync`.

    Args:
        base_url: The URL of the server, without `/api/v1`.
        api_key: The API key.
        timeout: The time limit of an attempt in seconds. `sync` compares it with the clock whenever a part of the body arrives.
            Connecting, and waiting for the next part, have the same limit each.
        max_retries: How often a request is repeated after 408, 409, 429, a 5xx or a failed connection.
        base_delay: The delay in seconds before the first retry. It doubles with each retry.
        max_delay: If `Retry-After` is longer, in seconds, the error is raised at once.
        transport: Sends the requests of `sync` and `sync_detailed`.
        async_transport: Sends the requests of `asyncio` and `asyncio_detailed`.
    """
    if not re.fullmatch(r"[\x21-\x7e]+", api_key):
        raise ConfigurationError("the API key is empty or contains a character that a header cannot contain")
    tls = httpx.create_ssl_context()
    inner = transport or httpx.HTTPTransport(verify=tls)
    async_inner = async_transport or httpx.AsyncHTTPTransport(verify=tls)
    return AuthenticatedClient(
        base_url=base_url.rstrip("/"),
        # The transport adds the key, so that the representation of the client does not contain it.
        token="hidden",
        headers={"User-Agent": f"creator-api-client-python/{version('creator-api-client')}"},
        timeout=httpx.Timeout(timeout),
        httpx_args={"transport": _Transport(inner, async_inner, api_key, max_retries, base_delay, max_delay)},
    )


# Without `repr`, because that of the client contains it.
@dataclass(repr=False, eq=False)
class _Transport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Sends a request until it succeeds or must not be repeated. Raises an error for each status from 300, except 304."""

    _inner: httpx.BaseTransport
    _async_inner: httpx.AsyncBaseTransport
    _api_key: str
    _max_retries: int
    _base_delay: float
    _max_delay: float

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        timeout = self._prepare(request)
        for retries in itertools.count():
            try:
                response = self._attempt(request, timeout)
                delay = self._delay_after(response, retries)
            except httpx.RequestError as cause:
                delay = self._delay_after_failure(request, cause, retries)
            if delay is None:
                return response
            time.sleep(delay)
        raise AssertionError("unreachable")

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        timeout = self._prepare(request)
        for retries in itertools.count():
            try:
                response = await asyncio.wait_for(self._async_attempt(request), timeout)
                delay = self._delay_after(response, retries)
            except (httpx.RequestError, TimeoutError) as cause:
                delay = self._delay_after_failure(request, cause, retries)
            if delay is None:
                return response
            await asyncio.sleep(delay)
        raise AssertionError("unreachable")

    def _prepare(self, request: httpx.Request) -> float | None:
        """Sets the headers of all attempts, and returns the time limit of each."""
        request.headers["Authorization"] = f"Bearer {self._api_key}"
        # One key for all attempts: the server creates a record at most once.
        if request.method == "POST":
            request.headers.setdefault("Idempotency-Key", str(uuid.uuid4()))
        timeout: float | None = request.extensions.get("timeout", {}).get("read")
        return timeout

    # An attempt reads the whole body, so that a connection that is cut in the body is noticed.
    def _attempt(self, request: httpx.Request, timeout: float | None) -> httpx.Response:
        deadline = time.monotonic() + (timeout or math.inf)
        body = b""
        with contextlib.closing(self._inner.handle_request(request)) as response:
            assert isinstance(response.stream, httpx.SyncByteStream)
            for part in response.stream:
                body += part
                if time.monotonic() > deadline:
                    raise httpx.ReadTimeout("the body was not complete in time")
        return _complete(response, body)

    async def _async_attempt(self, request: httpx.Request) -> httpx.Response:
        async with contextlib.aclosing(await self._async_inner.handle_async_request(request)) as response:
            assert isinstance(response.stream, httpx.AsyncByteStream)
            return _complete(response, b"".join([part async for part in response.stream]))

    def _delay_after(self, response: httpx.Response, retries: int) -> float | None:
        """Returns the delay before the next attempt, or None after a success. Raises the error if it is final."""
        if response.status_code < 300 or response.status_code == 304:
            return None
        wait = retry_after(response.headers) or 0.0
        if retries >= self._max_retries or response.status_code not in _RETRIED or wait > self._max_delay:
            raise error_of(response.status_code, response.headers, response.content)
        return wait + self._backoff(retries)

    def _delay_after_failure(self, request: httpx.Request, cause: Exception, retries: int) -> float:
        if retries >= self._max_retries:
            raise ConnectionError(f"no response from {request.url.host}") from cause
        return self._backoff(retries)

    def _backoff(self, retries: int) -> float:
        # Random, so that clients do not retry together.
        return min(self._base_delay * 2.0**retries, _LONGEST_BACKOFF) * random.uniform(0.5, 1.0)

    def close(self) -> None:
        self._inner.close()

    async def aclose(self) -> None:
        await self._async_inner.aclose()


def _complete(response: httpx.Response, body: bytes) -> httpx.Response:
    """Returns the response with its body, decoded as `Content-Encoding` says."""
    status, headers = response.status_code, response.headers
    try:
        return httpx.Response(status, headers=headers, content=body, extensions=response.extensions)
    except httpx.DecodingError:
        # Without a body, a success is an invalid response, and an error has no code.
        return httpx.Response(status, headers=headers, extensions=response.extensions)


def _convert_errors(build: Callable[..., T]) -> Callable[..., T]:
    def build_or_raise(**arguments: Any) -> T:
        try:
            return build(**arguments)
        except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as cause:
            raise InvalidResponseError("the body of the response is not JSON, or not that of the contract") from cause

    return build_or_raise


# For a body that it cannot parse, the generated code raises errors such as KeyError in `_build_response`, which all functions of
# an operation call.
for _found in pkgutil.walk_packages(api.__path__, f"{api.__name__}."):
    if not _found.ispkg:
        _module = importlib.import_module(_found.name)
        setattr(_module, "_build_response", _convert_errors(_module._build_response))


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
    operation: Callable[..., _Page[Item] | ErrorEnvelope | None],
    client: AuthenticatedClient,
    *,
    cursor: str | Unset | None = UNSET,
    **query: Any,
) -> Iterator[Item]:
    """Iterates over all items of a list, and requests further pages when they are needed.

    `operation` is the function `sync` of a list, such as `list_students.sync`, and `query` its arguments. `cursor` continues
    a list that was read in part.
    """
    while cursor is not None:
        page = data_of(operation(client=client, cursor=cursor, **query))
        yield from page.data
        cursor = page.pagination.cursor if page.pagination.has_more else None
