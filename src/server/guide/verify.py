"""Tells whether a webhook comes from us. Needs nothing but Python's own library."""

import hashlib
import hmac
import re
import time
from typing import Optional

TOLERANCE_SECONDS = 300


def verify(secret: str, header: str, body: bytes, now: Optional[float] = None) -> bool:
    """`header` is X-SVC-Signature, `body` the raw bytes as they came, `secret` the whole text as it was shown."""
    pairs = [part.split("=", 1) for part in header.split(",") if "=" in part]
    stamps = [value for name, value in pairs if name == "t"]
    if len(stamps) != 1 or not re.fullmatch("[0-9]{1,15}", stamps[0]):
        return False
    if abs((time.time() if now is None else now) - int(stamps[0])) > TOLERANCE_SECONDS:
        return False
    signed = stamps[0].encode() + b"." + body
    expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    return any([hmac.compare_digest(expected.encode(), value.encode()) for name, value in pairs if name == "v1"])
