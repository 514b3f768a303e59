"""A busy machine is reported, because times mean little on it."""

import pytest

from tools.bench.machine import is_busy


@pytest.mark.parametrize(("load", "busy"), [(0.9, False), (1.0, True), (8.0, True)])
def test_half_of_the_cores_is_busy(load: float, busy: bool) -> None:
    assert is_busy({"cores": 2, "load_before": load}) == busy
