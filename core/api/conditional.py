"""ETag and If-None-Match: a response that the caller already has becomes a 304 of a few bytes.

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

# The two members with a file's URL, which is signed anew in each response. Inside a string the
# quotes would be escaped, so no text from a company can match.
SIGNED_ADDRESS = re.compile(r'"url": "([^"\\]*)", "file_url": "\1"')
# A URL is valid for an hour, so the ETag of a response with one changes every half hour.
ADDRESSES_RENEWED_SECONDS = 1800


def answer_conditionally(request: Request, response: Response) -> None:
    """Set the ETag of a response; make it a 304 if the caller sent that ETag."""
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
