from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme

from tests.walks.conftest import SHORT_LEASE, service_environment
from tools.bench.outcome import Outcome
from tools.bench.rig import Rig
from tools.bench.running import SCENARIOS, options


@pytest.fixture
def rig(rows_to_keep: None, loopback: object, tmp_path: Path) -> Iterator[Rig]:
    """Start the service as its commands measure it, on the database and the broker of the test."""
    trustme.CA().cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    with Rig({**service_environment(tmp_path), **SHORT_LEASE}, tmp_path) as rig:
        yield rig


def measured(rig: Rig, command: str) -> Outcome:
    """Run a scenario as its command would run it on this service."""
    name, *arguments = command.split()
    return SCENARIOS[name].run(options(name, arguments), rig)
