"""Verifies the signature of a webhook. Uses only the Python standard library."""

import hashlib
import hmac
import re
import time
from typing import Optional

TOLERANCE_SECONDS = 300


def verify(secret: str, header: str, body: bytes, now: Optional[float] = None) -> bool:
    """Returns whether the signature is valid.

    `header` is X-SVC-Signature, `body` the raw bytes of the body, `secret` the whole secret as it was shown, and `now`
    the Unix time in seconds.
    """
    pairs = [part.split("=", 1) for part in header.split(",") if "=" in part]
    timestamps = [value for name, value in pairs if name == "t"]
    if len(timestamps) != 1 or not re.fullmatch("[0-9]{1,15}", timestamps[0]):
        return False
    if abs((time.time() if now is None else now) - int(timestamps[0])) > TOLERANCE_SECONDS:
        return False
    signed = timestamps[0].encode() + b"." + body
    expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    return any([hmac.compare_digest(expected.encode(), value.encode()) for name, value in pairs if name == "v1"])
