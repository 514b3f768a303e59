"""The processes of a scenario are started and stopped like a deployment's."""

from pathlib import Path

import pytest

from tools.faults.probing import answers
from tools.faults.scenarios import until
from tools.faults.service import Service


def test_what_has_ended_before_is_stopped_without_a_word(tmp_path: Path) -> None:
    (tmp_path / "Procfile").write_text("brief: true\nlong: sleep 600\n")
    with Service({}, tmp_path, tree=tmp_path) as service:
        service.start("brief")
        service.start("long")
        brief, long = service.processes["brief"], service.processes["long"]
        brief.wait()

    assert brief.returncode == 0
    assert long.returncode


@pytest.mark.django_db(transaction=True)
def test_a_web_process_has_nothing_to_say_when_it_starts(service: Service, tmp_path: Path) -> None:
    service.environment["PYTHONWARNINGS"] = "default::RuntimeWarning"
    service.start("web")
    until(lambda: answers(service, "/healthz"))

    assert (tmp_path / "web.log").read_text() == ""
