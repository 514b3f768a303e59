"""Examination of untrusted files in bounded processes (decision N8)."""

import json
import logging
import math
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Condition
from typing import Any, NamedTuple

from django.conf import settings
from django.utils.translation import gettext, gettext_noop

from core.api.minute_counter import WINDOW_SECONDS, counter
from core.files.refusals import FileRefused

logger = logging.getLogger(__name__)

PROGRAM = Path(__file__).with_name("examiner.py")
# The examiner's own limit, in seconds of processor time.
CPU_SECONDS = 10
# Timeout of a program that hangs; on a busy machine ten seconds of processor may take a minute.
SECONDS = 120.0
# Examiners of a web process, each with some hundred megabytes at worst. A company gets fewer than
# all of them, so that another's file never waits for its slow ones.
AT_ONCE, MOST_OF_ONE = 2, 1
WAIT_SECONDS = 10.0
# Uploads being examined or waiting for it: leaves a web process threads for everything else.
MOST_PRESENT, MOST_PRESENT_OF_ONE = 4, 2

UNREADABLE = gettext_noop(
    "The file cannot be opened: it is cut off, broken, or locked with a password."
)
TOO_MANY = gettext_noop("Too many files at once. Try again in a moment.")
TOO_LONG = gettext_noop(
    "The file takes too long to open. Make it smaller, or save it again in a simpler form."
)
NO_TIME_LEFT = gettext_noop(
    "Your files took too long to open in this minute. Wait for the next one."
)


class Examined(NamedTuple):
    """A file in the form in which it is stored."""

    content: bytes
    # True if it has scripts, actions or attached files, which we never run or open.
    active: bool


class Places:
    """Examiners of this process, shared out by company."""

    def __init__(self) -> None:
        self.changed = Condition()
        # Uploads in progress by company, and those of them that have an examiner.
        self.present: Counter[int] = Counter()
        self.running: Counter[int | None] = Counter()

    @contextmanager
    def one_for(self, company_id: int) -> Iterator[None]:
        """Hold an examiner for a company's upload, after waiting for it. Raises FileRefused."""
        with self.changed:
            own, everybody = self.present[company_id], self.present.total()
            if own >= MOST_PRESENT_OF_ONE or everybody >= MOST_PRESENT:
                raise FileRefused(gettext(TOO_MANY), code="files_busy")
            self.present[company_id] += 1
        try:
            with self.examiner(company_id):
                yield
        finally:
            with self.changed:
                self.present[company_id] -= 1
                self.present = +self.present

    @contextmanager
    def examiner(self, company_id: int | None) -> Iterator[None]:
        """Hold an examiner; None stands for our own people, who share all of them."""

        def is_free() -> bool:
            own = 0 if company_id is None else self.running[company_id]
            return own < MOST_OF_ONE and self.running.total() < AT_ONCE

        with self.changed:
            if not self.changed.wait_for(is_free, WAIT_SECONDS):
                raise FileRefused(gettext(TOO_MANY), code="files_busy")
            self.running[company_id] += 1
        try:
            yield
        finally:
            with self.changed:
                self.running[company_id] -= 1
                self.running = +self.running
                self.changed.notify_all()


places = Places()


def examine_file(content: bytes, media_type: str, company_id: int) -> Examined:
    """Examine a company's file as a whole. Images come back re-encoded, PDFs unchanged.

    The processor time is counted against the company's limit per minute. Raises FileRefused.
    """
    with places.one_for(company_id):
        refuse_beyond_limit(company_id)
        ran = run_examiner("examine", content, media_type)
        spend(company_id, ran.milliseconds)
    facts, output = result_of(ran, media_type)
    return Examined(output or content, bool(facts["active"]))


def refuse_beyond_limit(company_id: int) -> None:
    now = time.time()
    if spend(company_id, 0) >= settings.RATE_LIMITS["file_seconds"] * 1000:
        wait = math.ceil(WINDOW_SECONDS - now % WINDOW_SECONDS)
        raise FileRefused(gettext(NO_TIME_LEFT), code="file_seconds_spent", wait=wait)


def spend(company_id: int, milliseconds: int) -> int:
    """Count processor time against a company's minute; return the sum."""
    return counter.add(f"{company_id}:file_milliseconds", time.time(), milliseconds)


def make_thumbnail(content: bytes, media_type: str) -> bytes:
    """Make a small JPEG of a file that has been examined. Raises FileRefused."""
    with places.examiner(None):
        return result_of(run_examiner("thumbnail", content, media_type), media_type)[1]


def picture_of_page(content: bytes, number: int) -> tuple[bytes, int]:
    """Return a page of a PDF as a JPEG, empty if it does not exist, and the number of pages.

    Raises FileRefused.
    """
    pdf = "application/pdf"
    with places.examiner(None):
        facts, output = result_of(run_examiner("page", content, pdf, str(number)), pdf)
    return output, int(facts["pages"])


class Run(NamedTuple):
    """Output of an examiner, and its exit status."""

    facts: dict[str, Any]
    output: bytes
    returncode: int

    @property
    def milliseconds(self) -> int:
        """Processor time; the whole limit if the examiner ended without reporting it."""
        return int(self.facts.get("milliseconds", CPU_SECONDS * 1000))


def run_examiner(task: str, content: bytes, media_type: str, *options: str) -> Run:
    try:
        ran = subprocess.run(  # noqa: S603 - our own program, and no argument of a stranger's
            [sys.executable, "-I", "-B", str(PROGRAM), task, media_type, *options],
            input=content,
            capture_output=True,
            timeout=SECONDS,
            cwd="/",
            env={},
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Run({}, b"", -signal.SIGXCPU)
    line, _, output = ran.stdout.partition(b"\n")
    return Run(json.loads(line) if line else {}, output, ran.returncode)


def result_of(ran: Run, media_type: str) -> tuple[dict[str, Any], bytes]:
    """Return the facts and the bytes of a run. Raises FileRefused."""
    facts = ran.facts
    if not facts:
        # Killed by a limit, or crashed. The kernel kills what takes too much time or memory.
        logger.warning("the examiner of a %s ended with %s", media_type, ran.returncode)
        if ran.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            raise FileRefused(gettext(TOO_LONG), code="file_too_complex")
        raise FileRefused(gettext(UNREADABLE), code="file_unreadable")
    if "too_complex" in facts:
        text = gettext(facts["too_complex"]) % facts["values"]
        raise FileRefused(text, code="file_too_complex")
    if "unreadable" in facts:
        logger.info("cannot open a %s: %s", media_type, facts["unreadable"])
        raise FileRefused(gettext(UNREADABLE), code="file_unreadable")
    return facts, ran.output
