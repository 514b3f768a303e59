"""docs/guides/day.md, pasted block by block into a shell next to a running service."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from pytest_django.live_server_helper import LiveServer

from companies import services
from companies.models import Company
from tests.programs import program
from tests.test_architecture import ROOT
from tickets.models import Rating, Ticket
from tickets.statuses import Status

PAGE = (ROOT / "docs" / "guides" / "day.md").read_text()
COMMANDS = "".join(re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL))
(RECEIVER_OUTPUT,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.usefixtures("rows_to_keep")
def test_every_step_is_told_as_the_page_says(
    live_server: LiveServer, company: Company, tmp_path: Path
) -> None:
    program("curl")
    token = services.issue_token(company.pk)
    commands = COMMANDS.replace("https://...", live_server.url).replace("test_...", token)

    result = subprocess.run(
        ["bash", "-eu", "-o", "pipefail"],
        input=commands,
        env={"PATH": os.environ["PATH"]},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )

    assert (result.returncode, result.stderr) == (0, "")
    assert RECEIVER_OUTPUT in result.stdout, result.stdout
    assert "statusCode" not in result.stdout
    ticket = Ticket.objects.get()
    assert ticket.status == Status.ACCEPTED
    assert Rating.objects.get().ticket == ticket
    assert not company.webhooks.present().exists()
