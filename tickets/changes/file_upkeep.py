"""Background work on files: thumbnails, and removal of orphans."""

import logging
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from core.files import storage
from core.files.examining import make_thumbnail
from core.files.refusals import FileRefused
from core.jobs.failing_rows import FailingRows
from tickets.changes.files import remove_unfinished
from tickets.models import TicketFile, UnfinishedFile

logger = logging.getLogger(__name__)

MOST_AT_ONCE = 20
# Far longer than any upload takes.
UNFINISHED_FOR = timedelta(hours=1)
# Time after which a file is removed if its company attaches it to no ticket.
UNATTACHED_FOR = timedelta(hours=24)


def lacks_thumbnails() -> bool:
    """Return whether any file lacks its thumbnail."""
    return TicketFile.objects.filter(thumbnail=None).exists()


def make_thumbnails() -> int:
    """Create missing thumbnails, the oldest first; returns the number of files."""
    rows = FailingRows("make_thumbnails")
    waiting = TicketFile.objects.filter(thumbnail=None).order_by("pk")
    count = 0
    for file in rows.first(waiting, MOST_AT_ONCE):
        try:
            name = thumbnail_of(file)
        except Exception as error:  # each storage has its own exceptions
            rows.note("file", file.pk, error)
            continue
        if not TicketFile.objects.filter(pk=file.pk).update(thumbnail=name) and name:
            storage.remove_file(name)  # the file was deleted meanwhile
        rows.forget("file", [file.pk])
        count += 1
    return count


def thumbnail_of(file: TicketFile) -> str:
    """Write a thumbnail to the storage; returns its name, or "" if there can be none.

    Holds no transaction.
    """
    try:
        picture = make_thumbnail(storage.read_file(file.stored_as), file.media_type)
    except FileRefused as error:
        logger.info("no thumbnail of file %s: %s", file.pk, error)
        return ""
    name = f"{file.stored_as}-small"
    # Remove the thumbnail of an earlier run that was killed before it was recorded.
    storage.remove_file(name)
    return storage.write_file(name, picture)


def remove_orphans() -> int:
    """Remove orphans from the storage; returns their number.

    They come from killed uploads, or were attached to no ticket within a day.
    """
    delete_unattached()
    rows = FailingRows("remove_orphans")
    old = UnfinishedFile.objects.filter(created_at__lt=timezone.now() - UNFINISHED_FOR)
    count = 0
    for orphan in rows.first(old.order_by("created_at"), MOST_AT_ONCE, key="name"):
        try:
            count += remove_unfinished(orphan.name)
        except Exception as error:  # each storage has its own exceptions
            rows.note("file", orphan.name, error)
            continue
        rows.forget("file", [orphan.name])
    return count


@transaction.atomic
def delete_unattached() -> None:
    """Delete old rows of unattached files, and mark their contents as orphans."""
    before = timezone.now() - UNATTACHED_FOR
    old = TicketFile.objects.filter(ticket=None, created_at__lt=before).order_by("pk")
    files = list(old.select_for_update(skip_locked=True, of=("self",))[:MOST_AT_ONCE])
    names = [name for file in files for name in (file.stored_as, file.thumbnail) if name]
    UnfinishedFile.objects.bulk_create(
        UnfinishedFile(name=name, created_at=before) for name in names
    )
    TicketFile.objects.filter(pk__in=[file.pk for file in files]).delete()
