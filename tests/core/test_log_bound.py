"""A flood of log lines is bounded, and dropped lines are counted."""

import pytest

from core.watch.log_bound import MOST_LINES, WHILE_SECONDS, LogBound


def test_lines_beyond_the_bound_are_counted_as_left_out(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(LogBound, "clock", lambda _: now[0])
    bound = LogBound("companies.of.a.test")

    allowed = [bound.may_log("answered 500") for _ in range(MOST_LINES + 3)]
    allowed.append(bound.may_log("timeout"))

    assert allowed == [True] * MOST_LINES + [False] * 4
    assert caplog.messages == []
    now[0] = WHILE_SECONDS
    bound.log_suppressed()
    assert caplog.messages == ["4 more lines were left out in 10 s: 3 answered 500, 1 timeout"]
    assert bound.may_log("answered 500")
    now[0] *= 2
    bound.log_suppressed()
    assert len(caplog.messages) == 1
