"""Verifies the Ed25519 signature of a webhook. Requires the package cryptography."""

import base64
import re
import time
from typing import Mapping, Optional

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

TOLERANCE_SECONDS = 300


def verify(public_key: str, headers: Mapping[str, str], body: bytes, now: Optional[float] = None) -> bool:
    """Returns whether a signature is valid. `public_key` begins with whpk_, the names of `headers` are lowercase."""
    event_id, timestamp = headers["webhook-id"], headers["webhook-timestamp"]
    now = time.time() if now is None else now
    if not re.fullmatch("[0-9]{1,15}", timestamp) or abs(now - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    key = Ed25519PublicKey.from_public_bytes(base64.b64decode(public_key.removeprefix("whpk_")))
    signed = f"{event_id}.{timestamp}.".encode() + body
    for part in headers["webhook-signature"].split(" "):
        version, _, signature = part.partition(",")
        if version != "v1a":
            continue
        try:
            key.verify(base64.b64decode(signature), signed)
            return True
        except (InvalidSignature, ValueError):
            pass
    return False
