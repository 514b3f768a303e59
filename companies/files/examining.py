"""Has files of strangers opened, where they can harm nobody (decision N8)."""

import json
import logging
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import BoundedSemaphore, Lock
from typing import Any, NamedTuple

from companies.files.refusals import FileRefused

logger = logging.getLogger(__name__)

PROGRAM = Path(__file__).with_name("examiner.py")
# Longer than its own limit of processor time, as the machine may be busy.
SECONDS = 30.0
# At a time in one process of ours, each with some hundred megabytes at worst.
AT_ONCE = BoundedSemaphore(2)
WAIT_SECONDS = 10.0
# So many may be at it or wait for it: a web process has threads left for everything else.
MOST, MOST_OF_ONE = 4, 2

UNREADABLE = "The file cannot be opened: it is cut off, broken, or locked with a password."
TOO_MANY = "Too many files at once. Try again in a moment."
TOO_LONG = "The file takes too long to open."


class Examined(NamedTuple):
    """A file as it is kept."""

    content: bytes
    # It holds scripts or attached files, which we never open.
    active: bool


class Places:
    """Who is at it in this process, by company: a few of all, fewer of one."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.taken: Counter[int] = Counter()

    @contextmanager
    def one_for(self, company_id: int) -> Iterator[None]:
        """Raises FileRefused."""
        with self.lock:
            if self.taken[company_id] >= MOST_OF_ONE or self.taken.total() >= MOST:
                raise FileRefused(TOO_MANY, code="files_busy")
            self.taken[company_id] += 1
        try:
            yield
        finally:
            with self.lock:
                self.taken[company_id] -= 1
                self.taken = +self.taken


places = Places()


def examine_file(content: bytes, media_type: str, company_id: int) -> Examined:
    """Open a company's file whole. Images come back written anew, PDFs as they are.

    Raises FileRefused.
    """
    with places.one_for(company_id):
        said, made = run_examiner("examine", content, media_type)
    return Examined(made or content, bool(said["active"]))


def make_thumbnail(content: bytes, media_type: str) -> bytes:
    """A small JPEG of a file that has been examined. Raises FileRefused."""
    return run_examiner("thumbnail", content, media_type)[1]


def picture_of_page(content: bytes, number: int) -> tuple[bytes, int]:
    """A page of a PDF as a JPEG, empty where there is no such page, and how many there are.

    Raises FileRefused.
    """
    said, made = run_examiner("page", content, "application/pdf", str(number))
    return made, int(said["pages"])


def run_examiner(
    task: str, content: bytes, media_type: str, *given: str
) -> tuple[dict[str, Any], bytes]:
    if not AT_ONCE.acquire(timeout=WAIT_SECONDS):
        raise FileRefused(TOO_MANY, code="files_busy")
    try:
        ran = subprocess.run(  # noqa: S603 - our own program, and no argument of a stranger's
            [sys.executable, "-I", "-B", str(PROGRAM), task, media_type, *given],
            input=content,
            capture_output=True,
            timeout=SECONDS,
            cwd="/",
            env={},
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise FileRefused(TOO_LONG, code="file_too_complex") from error
    finally:
        AT_ONCE.release()
    line, _, made = ran.stdout.partition(b"\n")
    if not line:
        # Killed by a limit, or crashed.
        logger.warning("the examiner of a %s ended with %s", media_type, ran.returncode)
        raise FileRefused(UNREADABLE, code="file_unreadable")
    said: dict[str, Any] = json.loads(line)
    if "too_complex" in said:
        raise FileRefused(said["too_complex"], code="file_too_complex")
    if "unreadable" in said:
        logger.info("cannot open a %s: %s", media_type, said["unreadable"])
        raise FileRefused(UNREADABLE, code="file_unreadable")
    return said, made
