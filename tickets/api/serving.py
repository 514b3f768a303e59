"""Downloads of files, by a signed URL that is valid for an hour, and at the desk.

A browser shows or saves the content, and never executes any of it (decision N8).
"""

from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.utils.http import content_disposition_header

from core.files.kinds import KINDS
from core.files.storage import FileMissing, read_file
from tickets.models import TicketFile

SALT = "tickets.files"
LIFETIME_SECONDS = 3600


def signed_path(file: TicketFile) -> str:
    """Return the path of a file's URL, which anyone who has it can read for an hour."""
    return reverse("signed_file", args=[signing.dumps(file.pk, salt=SALT)])


def signed_file(request: HttpRequest, signed: str) -> HttpResponse:
    """Return a file by its signed id. Raises Http404 if it has expired, or unless GET or HEAD."""
    if request.method not in ("GET", "HEAD"):
        raise Http404
    try:
        file_id = signing.loads(signed, salt=SALT, max_age=LIFETIME_SECONDS)
        file = TicketFile.objects.get(pk=file_id)
        response = file_response(file)
    except (signing.BadSignature, TicketFile.DoesNotExist) as error:
        raise Http404 from error
    response["ETag"] = f'"{file.sha256}"'
    conditional = get_conditional_response(request, response["ETag"], response=response)
    return conditional if isinstance(conditional, HttpResponse) else response


def file_response(file: TicketFile) -> HttpResponse:
    """Return the content of a file. Raises Http404 if it is missing from the storage."""
    kind = KINDS[file.media_type]
    return harmless_response(file.stored_as, file.media_type, file.name, inline=kind.inline)


def thumbnail_response(file: TicketFile) -> HttpResponse:
    """Return the thumbnail of a file. Raises Http404 if it has none."""
    if not file.thumbnail:
        raise Http404
    return harmless_response(file.thumbnail, "image/jpeg", "thumbnail.jpg", inline=True)


def harmless_response(stored_as: str, media_type: str, name: str, *, inline: bool) -> HttpResponse:
    try:
        content = read_file(stored_as)
    except FileMissing as error:
        raise Http404 from error
    return harmless_content(content, media_type, name, inline=inline)


def harmless_content(content: bytes, media_type: str, name: str, *, inline: bool) -> HttpResponse:
    """Return untrusted content that a browser may show or save, but never execute."""
    disposition = content_disposition_header(not inline, name)
    return HttpResponse(
        content,
        content_type=media_type,
        headers={
            "Content-Disposition": disposition or "attachment",
            "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "private, no-store",
            "Referrer-Policy": "no-referrer",
        },
    )
