"""Verifies webhook requests and parses their events."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from .errors import ConfigurationError, CreatorApiError
from .generated import models
from .generated.types import UNSET, Unset

# The base64 of at least one byte, with its padding.
_SECRET = re.compile(r"whsec_([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)")


class WebhookVerificationError(CreatorApiError):
    """The request was not sent by the service, is too old, or is not an event.

    `reason` is `malformed`, `too_old`, `too_new`, `no_match` or `invalid_body`. With `invalid_body`, the signature is
    valid, but this version of the package cannot read the event.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(f"the webhook request was rejected: {reason}")
        self.reason = reason


class Event(Protocol):
    """An event: a model such as `StudentCreatedEvent`, or an `UnknownEvent`. Use `isinstance`.

    `test` is True in a test event, whose data is fictional.
    """

    id: str
    test: bool | Unset

    def to_dict(self) -> dict[str, Any]: ...


@dataclass
class UnknownEvent:
    """An event of a type that was added after this version of the package."""

    id: str
    type: str
    data: dict[str, Any]
    body: dict[str, Any]
    test: bool | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        """Returns the event as JSON."""
        return self.body


def verify(
    raw_body: bytes,
    headers: Mapping[str, str],
    secrets: str | Sequence[str],
    *,
    now: float | None = None,
    tolerance: float = 300,
) -> Event:
    """Verifies a webhook request and returns its event.

    Args:
        raw_body: The bytes of the body as they arrived. JSON that was parsed and serialized again has other bytes.
        headers: The headers of the request.
        secrets: The signing secret, or several while a secret is rotated.
        now: The current time in Unix seconds, for tests.
        tolerance: How much the time of the request can differ from the clock, in seconds.

    Raises:
        WebhookVerificationError: The request must be rejected.
        ConfigurationError: There is no secret, or one is malformed.
    """
    verify_signature(raw_body, headers, secrets, now=now, tolerance=tolerance)
    try:
        return _parse(json.loads(raw_body))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as cause:
        raise WebhookVerificationError("invalid_body") from cause


def verify_signature(
    raw_body: bytes,
    headers: Mapping[str, str],
    secrets: str | Sequence[str],
    *,
    now: float | None = None,
    tolerance: float = 300,
) -> None:
    """Verifies the signature of a webhook request: `X-SVC-Signature` or, without it, that of Standard Webhooks."""
    keys = [secrets] if isinstance(secrets, str) else list(secrets)
    if not keys or not all(_SECRET.fullmatch(key) for key in keys):
        raise ConfigurationError("a signing secret consists of whsec_ and base64")
    lowercase = {name.lower(): value for name, value in headers.items()}
    signature = lowercase.get("x-svc-signature")
    signed = _standard_webhooks(lowercase) if signature is None else _svc_signature(signature)
    age = (time.time() if now is None else now) - signed.time
    if abs(age) > tolerance:
        raise WebhookVerificationError("too_old" if age > 0 else "too_new")
    expected = [_sign(key, signed.prefix.encode() + b"." + raw_body, signed.is_standard) for key in keys]
    candidates = [signature.encode() for signature in signed.signatures]
    if not any([hmac.compare_digest(left, right) for left in expected for right in candidates]):
        raise WebhookVerificationError("no_match")


class _Signed(NamedTuple):
    time: int
    # What is signed before the body.
    prefix: str
    signatures: list[str]
    is_standard: bool


def _svc_signature(header: str) -> _Signed:
    pairs = [part.split("=", 1) for part in header.split(",") if "=" in part]
    times = [value for name, value in pairs if name == "t"]
    seconds = _time(times[0] if len(times) == 1 else "")
    return _Signed(seconds, times[0], [value for name, value in pairs if name == "v1"], is_standard=False)


def _standard_webhooks(headers: Mapping[str, str]) -> _Signed:
    timestamp = headers.get("webhook-timestamp", "")
    if "webhook-id" not in headers:
        raise WebhookVerificationError("malformed")
    signatures = headers.get("webhook-signature", "").split(" ")
    signatures = [signature[3:] for signature in signatures if signature.startswith("v1,")]
    return _Signed(_time(timestamp), f"{headers['webhook-id']}.{timestamp}", signatures, is_standard=True)


def _time(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,15}", text):
        raise WebhookVerificationError("malformed")
    return int(text)


def _sign(secret: str, content: bytes, is_standard: bool) -> bytes:
    if is_standard:
        key = base64.b64decode(secret.removeprefix("whsec_"))
        return base64.b64encode(hmac.digest(key, content, hashlib.sha256))
    return hmac.digest(secret.encode(), content, hashlib.sha256).hex().encode()


def _parse(body: dict[str, Any]) -> Event:
    type_, data = body["type"], body["data"]
    if not isinstance(body["id"], str) or not isinstance(type_, str) or not isinstance(data, dict):
        raise ValueError("not an event")
    # The model of `order.paid` is `OrderPaidEvent`.
    name = "".join(word.capitalize() for word in re.split(r"[._]", type_)) + "Event"
    model = getattr(models, name, None)
    if model is None:
        return UnknownEvent(body["id"], type_, data, body, test=body.get("test", UNSET))
    event: Event = model.from_dict(body)
    return event
