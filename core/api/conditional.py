"""ETag and If-None-Match: an answer that the caller has already is a 304 of a few bytes.

Why: decision page web-answers-without-secrets-go-out-compressed.
"""

import hashlib
import json
import re
import time
from typing import Any

from django.utils.http import parse_etags
from rest_framework.request import Request
from rest_framework.response import Response

# The two members of a file's address, which is signed anew in each answer. Inside a text the quotes
# would be escaped, so nothing that a company wrote is taken for it.
SIGNED_ADDRESS = re.compile(r'"url": "([^"\\]*)", "file_url": "\1"')
# An address lives an hour: an answer that has one counts as changed before its first half is over.
ADDRESSES_RENEWED_SECONDS = 1800


def answer_conditionally(request: Request, response: Response) -> None:
    """Set the ETag of an answer; make it a 304 if the caller has named it."""
    tag = weak_tag(response.data, time.time())
    response["ETag"] = f'W/"{tag}"'
    header_tags = parse_etags(request.headers.get("If-None-Match", ""))
    caller_tags = [each.removeprefix("W/") for each in header_tags]
    if caller_tags == ["*"] or f'"{tag}"' in caller_tags:
        response.status_code = 304
        response.data = None


def weak_tag(data: Any, now: float) -> str:
    text, signed = SIGNED_ADDRESS.subn("", json.dumps(data, default=str))
    if signed:
        text += f" {now // ADDRESSES_RENEWED_SECONDS:.0f}"
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
