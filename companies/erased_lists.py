"""Lists of erased companies, kept outside of the database for the day it is restored."""

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from django.utils.dateparse import parse_datetime

from companies import erasing
from companies.models import Company

Listed = list[tuple[int, datetime]]


def read_list(path: Path) -> Listed:
    """Read the output of `erase_company --list`. Raises OSError, or ValueError with the reason."""
    entries = []
    for line in path.read_text().splitlines():
        try:
            entry = json.loads(line)
            at = parse_datetime(entry["erased_at"])
            if at is None:
                raise ValueError(line)
            entries.append((int(entry["company_id"]), at))
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path} is no list that --list has written: {error}") from error
    return entries


def still_due(listed: Listed) -> list[int]:
    """Return the ids of listed companies that exist and are as old; newer ones reuse an id.

    A company whose erasure ended before the backup is not due.
    """
    erased = dict(erasing.erased_companies())
    due = []
    for company_id, erased_at in listed:
        company = Company.objects.filter(pk=company_id).first()
        if company is not None and company.created_at <= erased_at and company_id not in erased:
            due.append(company_id)
    return due


def erase_again(company_ids: list[int], show: Callable[[str], None]) -> dict[int, dict[str, int]]:
    """Erase companies, and return the rows of each kind.

    All begin at once, so that the wait for requests under way is one wait for all.
    """
    for company_id in company_ids:
        erasing.begin_erasure(company_id)
    return {each: erasing.erase_all_of(each, show=show).counts for each in company_ids}
