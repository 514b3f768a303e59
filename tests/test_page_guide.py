"""docs/guides/page.md: its samples open the page, in each language as they stand."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.test import Client
from pytest_django.live_server_helper import LiveServer

from companies import services
from companies.models import Company
from portal import access
from tests import builders as build
from tests.programs import program
from tests.test_architecture import ROOT

PAGE = (ROOT / "docs" / "guides" / "page.md").read_text()
PYTHON = "print(page_url(ticket_id={}))\n"
JAVASCRIPT = "pageUrl({{ ticket_id: {} }}).then(console.log);\n"


def sample(language: str) -> str:
    (text,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(text)


@pytest.mark.parametrize(
    ("language", "interpreter", "call"),
    [("python", sys.executable, PYTHON), ("js", "node", JAVASCRIPT)],
)
@pytest.mark.usefixtures("rows_to_keep")
def test_a_button_opens_the_page(
    live_server: LiveServer,
    company: Company,
    tmp_path: Path,
    language: str,
    interpreter: str,
    call: str,
) -> None:
    ticket = build.ticket(company)
    token = services.issue_token(company.pk)
    file = tmp_path / f"button.{language}"
    file.write_text(sample(language) + call.format(ticket.pk))

    ran = subprocess.run(
        [interpreter if language == "python" else program(interpreter), file],
        env={
            "PATH": os.environ["PATH"],
            "PARCELDESK_URL": live_server.url,
            "PARCELDESK_TOKEN": token,
        },
        capture_output=True,
        text=True,
    )

    assert (ran.returncode, ran.stderr) == (0, "")
    url = ran.stdout.strip()
    assert url.startswith(f"{live_server.url}/c/s/")
    assert Client().get(url.removeprefix(live_server.url))["Location"] == f"/c/tickets/{ticket.pk}"


@pytest.mark.parametrize("language", ["python", "js"])
def test_a_sample_has_about_ten_lines(language: str) -> None:
    assert sum(map(bool, sample(language).splitlines())) <= 12


def test_tells_the_times_as_they_are() -> None:
    assert access.URL_LIFETIME.total_seconds() == 5 * 60
    assert access.SESSION_LIFETIME.total_seconds() == 8 * 3600
    assert "eight hours" in PAGE
    assert "within five minutes" in PAGE
    assert "60 days after the ticket's last change" in PAGE
