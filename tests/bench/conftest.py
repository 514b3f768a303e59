from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.rig import Rig
from tests.walks.conftest import SHORT_LEASE, service_environment


@pytest.fixture
def rig(rows_to_keep: None, loopback: object, tmp_path: Path) -> Iterator[Rig]:
    """The service as its commands measure it, on the database and the broker of the test."""
    with Rig({**service_environment(tmp_path), **SHORT_LEASE}, tmp_path) as rig:
        yield rig
