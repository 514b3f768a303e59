"""The incidents of `tools/faults/run incidents`, in small: one that no machine can detect."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from companies.models import Company
from tools.faults.incidents.catalogue import INCIDENTS
from tools.faults.incidents.following import page_of
from tools.faults.incidents.plays import Scene
from tools.faults.incidents.scenario import play
from tools.faults.probing import answers
from tools.faults.rig import Rig
from tools.faults.scenarios import until
from tools.faults.service import Service

LEAKED_TOKEN = next(each for each in INCIDENTS if each.name == "leaked-token")


def test_each_has_its_page() -> None:
    assert all(page_of(each.page) for each in INCIDENTS)
    assert len(INCIDENTS) == 20


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_leaked_token_is_mended_by_what_its_page_says(
    service: Service, acme: Company, tmp_path: Path
) -> None:
    service.start("web")
    until(lambda: answers(service, "/healthz"))
    scene = Scene(cast(Rig, SimpleNamespace(service=service, company=acme)), tmp_path)

    mended = play(LEAKED_TOKEN, scene, cast(Any, None), 1.0)
    astray = play(LEAKED_TOKEN._replace(page="scheduler-away"), scene, cast(Any, None), 1.0)

    assert mended["trouble"] == ""
    assert [each.split()[0] for each in mended["commands"]] == [
        "list_tokens",
        "revoke_token",
        "issue_token",
        "audit",
    ]
    assert astray["trouble"].startswith("scheduler-away does not say: list_tokens")
