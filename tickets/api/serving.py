"""Hands out files: by an address that is signed and lives an hour, and to the desk.

A browser shows or saves what is handed out, and runs nothing of it (decision N8).
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
    """The path of its address, which whoever has it can read for an hour."""
    return reverse("signed_file", args=[signing.dumps(file.pk, salt=SALT)])


def signed_file(request: HttpRequest, signed: str) -> HttpResponse:
    """Raises Http404, also for an address that is too old, and for any method but reading."""
    if request.method not in ("GET", "HEAD"):
        raise Http404
    try:
        file_id = signing.loads(signed, salt=SALT, max_age=LIFETIME_SECONDS)
        file = TicketFile.objects.get(pk=file_id)
        response = file_response(file)
    except (signing.BadSignature, TicketFile.DoesNotExist) as error:
        raise Http404 from error
    response["ETag"] = f'"{file.sha256}"'
    unchanged = get_conditional_response(request, response["ETag"], response=response)
    return unchanged if isinstance(unchanged, HttpResponse) else response


def file_response(file: TicketFile) -> HttpResponse:
    """Raises Http404 where the storage has lost it."""
    kind = KINDS[file.media_type]
    return harmless_response(file.stored_as, file.media_type, file.name, inline=kind.inline)


def thumbnail_response(file: TicketFile) -> HttpResponse:
    """Raises Http404 where there is none."""
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
    """Something of a stranger's that a browser may show or save, and nothing else."""
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
