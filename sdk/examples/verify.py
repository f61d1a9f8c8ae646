"""Verifies webhooks of the Conversation Connection Service. One file, standard library only.

Copy `verify_webhook` into your backend. Run against the vectors:  python3 verify.py ../vectors/webhook-signature.json
"""

import base64
import hashlib
import hmac
import json
import re
import sys
import time

MAX_HEADER_LENGTH = 4096
MAX_SIGNATURES = 20


class WebhookVerificationError(Exception):
    """The webhook is not to be trusted; `reason` says why."""

    def __init__(self, reason):
        super().__init__(reason)
        self.reason = reason


def parse_signature(header):
    """Reads `t=<unix seconds>,v1=<hmac hex>[,v1=...]`; unknown schemes are ignored. Returns (t, [v1, ...])."""
    if header is None or header.strip() == "":
        raise WebhookVerificationError("missing-signature")
    if len(header) > MAX_HEADER_LENGTH:
        raise WebhookVerificationError("malformed-signature")
    times, values = set(), []
    for part in filter(None, (part.strip() for part in header.split(","))):
        name, equals, value = part.partition("=")
        if not name or not equals:
            raise WebhookVerificationError("malformed-signature")
        if name == "t":
            times.add(value)
        elif name == "v1":
            values.append(value)
    if len(times) != 1 or not re.fullmatch(r"[0-9]{1,11}", next(iter(times))):
        raise WebhookVerificationError("malformed-signature")
    if not values:
        raise WebhookVerificationError("unsupported-scheme")
    if len(values) > MAX_SIGNATURES:
        raise WebhookVerificationError("malformed-signature")
    complete = [value.lower() for value in values if re.fullmatch(r"[0-9a-fA-F]{64}", value)]
    if not complete:
        cut_off = any(re.fullmatch(r"[0-9a-fA-F]{0,63}", value) for value in values)
        raise WebhookVerificationError("truncated-signature" if cut_off else "malformed-signature")
    return times.pop(), complete


def verify_webhook(raw_body, header, secrets, tolerance_seconds=300, now=None):
    """Returns the event of a genuine webhook, a dict with `event`, `payload` and `deliveryId`.

    raw_body: bytes, exactly as they came; header: value of X-Service-Signature; secrets: list of str; now: Unix seconds.
    Drop duplicates by `deliveryId` afterwards: retries of one delivery keep it.
    """
    if not isinstance(raw_body, (bytes, bytearray)):
        raise WebhookVerificationError("not-raw-body")
    timestamp, signatures = parse_signature(header)
    signed = timestamp.encode() + b"." + bytes(raw_body)
    found = False
    for secret in secrets:
        expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
        for signature in signatures:
            found = hmac.compare_digest(expected, signature) or found
    if not found:
        raise WebhookVerificationError("no-match")
    age = (time.time() if now is None else now) - int(timestamp)
    if age > tolerance_seconds:
        raise WebhookVerificationError("stale")
    if -age > tolerance_seconds:
        raise WebhookVerificationError("future")
    try:
        event = json.loads(bytes(raw_body).decode("utf-8"))
    except (ValueError, RecursionError):
        raise WebhookVerificationError("invalid-json") from None
    wanted = {"event": str, "payload": dict, "deliveryId": str}
    if not isinstance(event, dict) or not all(isinstance(event.get(name), kind) for name, kind in wanted.items()):
        raise WebhookVerificationError("not-an-event")
    return event


def check(vector):
    """What a vector gives: `valid`, the reason of the refusal, or the wrong delivery."""
    body = base64.b64decode(vector["bodyBase64"]) if "bodyBase64" in vector else vector["body"].encode("utf-8")
    try:
        event = verify_webhook(body, vector["signature"], vector["secrets"], vector["toleranceSeconds"], vector["now"])
    except WebhookVerificationError as error:
        return error.reason
    return "valid" if event["deliveryId"] == vector["deliveryId"] else "another deliveryId"


def main(path):
    with open(path, encoding="utf-8") as file:
        vectors = json.load(file)["vectors"]
    failed = 0
    for vector in vectors:
        result = check(vector)
        if result not in (vector["expect"], vector.get("diagnosis")):
            failed += 1
            print(f"{vector['name']}: {result} instead of {vector['expect']}")
    print(f"{len(vectors) - failed} of {len(vectors)} vectors as expected")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
