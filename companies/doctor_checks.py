"""Checks of `doctor`: stored secrets can be read, and requests are counted."""

import time
from secrets import token_hex

from django.core.cache import cache
from django.db.models import Count

from companies import restoring
from core.data.reencryption import take_census
from core.files import storage
from core.models import FailedRow
from core.watch.doctor import Concern, register

# A million secrets take half a minute; `reencrypt --dry-run` looks at all of them.
CENSUS_SECONDS = 10.0


@register(
    "Put the key that is missing back behind the others in FIELD_KEYS, or have the companies set"
    " new secrets; then run manage.py reencrypt.",
    seconds=CENSUS_SECONDS + 5,
    # With a million secrets a census takes ten seconds of a core.
    minutes=15,
)
def secrets() -> str:
    deadline = time.monotonic() + CENSUS_SECONDS
    census = take_census(lambda text: None, lambda: time.monotonic() > deadline)
    if census.unreadable:
        rows = ", ".join(census.unreadable_rows)
        raise RuntimeError(f"no key in FIELD_KEYS opens {census.unreadable}: {rows}")
    if census.left:
        raise Concern(f"{census.left} are encrypted with an older key: run manage.py reencrypt")
    part = ", as far as there was time to look" if time.monotonic() > deadline else ""
    return f"the newest key opens all {sum(census.by_key)}{part}"


@register(
    "Start the server of CACHE_URL; until then rate limits count nothing.",
    name="cache",
    per_host=True,
)
def counts_requests() -> str:
    mark = token_hex(8)
    cache.set("doctor", mark, timeout=60)
    if cache.get("doctor") != mark:
        raise RuntimeError("does not give back what was written")
    return "takes and gives back"


@register(
    "Correct FILES_DIR, or FILE_STORAGE and FILE_STORAGE_OPTIONS.", name="files", per_host=True
)
def takes_files() -> str:
    """Writes a small file, reads it back and removes it."""
    mark = token_hex(8).encode()
    name = storage.write_file(storage.new_file_name(), mark)
    try:
        if storage.read_file(name) != mark:
            raise RuntimeError("the storage does not give back what was written")
    finally:
        storage.remove_file(name)
    return "the storage takes files and gives them back"


@register("Look under Failed rows at the desk for what each fails on; they are tried at each run.")
def failed_rows() -> str:
    found = FailedRow.objects.order_by("job").values_list("job").annotate(rows=Count("pk"))
    if told := ", ".join(f"{rows} of {job}" for job, rows in found):
        raise Concern(told)
    return "there are none"


@register(
    "Run manage.py after_restore before anything is started; where nothing was lost, as after"
    " pg_upgrade or a standby that had everything, manage.py after_restore --nothing-lost."
)
def restored() -> str:
    """Warn while ids that the lost database gave away may be given again."""
    if restoring.is_restored():
        raise Concern("the database was restored, promoted or moved, and is not repaired yet")
    return "the database is the one it was"
