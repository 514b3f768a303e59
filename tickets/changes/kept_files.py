"""What is done about files behind the scenes: small pictures, and whatever nobody has any more."""

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
# A file that its company attaches to no ticket is forgotten after so long.
UNATTACHED_FOR = timedelta(hours=24)


def lacks_thumbnails() -> bool:
    """Return whether the picture of any file is missing."""
    return TicketFile.objects.filter(thumbnail=None).exists()


def make_thumbnails() -> int:
    """Make the pictures that are missing, the oldest first; returns how many files were done."""
    rows = FailingRows("make_thumbnails")
    waiting = TicketFile.objects.filter(thumbnail=None).order_by("pk")
    done = 0
    for file in rows.first(waiting, MOST_AT_ONCE):
        try:
            name = thumbnail_of(file)
        except Exception as error:  # each storage has its own
            rows.note("file", file.pk, error)
            continue
        if not TicketFile.objects.filter(pk=file.pk).update(thumbnail=name) and name:
            storage.remove_file(name)  # let go meanwhile
        rows.forget("file", [file.pk])
        done += 1
    return done


def thumbnail_of(file: TicketFile) -> str:
    """Make the picture and write it to the storage; its name there, empty where there is none.

    No transaction is open meanwhile.
    """
    try:
        picture = make_thumbnail(storage.read_file(file.stored_as), file.media_type)
    except FileRefused as error:
        logger.info("no thumbnail of file %s: %s", file.pk, error)
        return ""
    name = f"{file.stored_as}-small"
    # Of a run that was killed before it could say so.
    storage.remove_file(name)
    return storage.write_file(name, picture)


def remove_orphans() -> int:
    """Remove what nobody has from the storage: of uploads that were killed, or that no ticket
    got in a day. Returns how many.
    """
    let_go_unattached()
    rows = FailingRows("remove_orphans")
    old = UnfinishedFile.objects.filter(created_at__lt=timezone.now() - UNFINISHED_FOR)
    done = 0
    for orphan in rows.first(old.order_by("created_at"), MOST_AT_ONCE, key="name"):
        try:
            done += remove_unfinished(orphan.name)
        except Exception as error:  # each storage has its own
            rows.note("file", orphan.name, error)
            continue
        rows.forget("file", [orphan.name])
    return done


@transaction.atomic
def let_go_unattached() -> None:
    """Forget files that belong to no ticket; their content is an orphan from now on."""
    before = timezone.now() - UNATTACHED_FOR
    old = TicketFile.objects.filter(ticket=None, created_at__lt=before).order_by("pk")
    files = list(old.select_for_update(skip_locked=True, of=("self",))[:MOST_AT_ONCE])
    names = [name for file in files for name in (file.stored_as, file.thumbnail) if name]
    UnfinishedFile.objects.bulk_create(
        UnfinishedFile(name=name, created_at=before) for name in names
    )
    TicketFile.objects.filter(pk__in=[file.pk for file in files]).delete()
