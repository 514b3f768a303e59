"""A flood of lines is bounded, and what was left out is counted."""

import pytest

from core.watch.log_bound import MOST_LINES, WHILE_SECONDS, LogBound


def test_says_so_much_in_a_while_and_then_what_it_left_out(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(LogBound, "clock", lambda _: now[0])
    bound = LogBound("companies.of.a.test")

    said = [bound.may_say("answered 500") for _ in range(MOST_LINES + 3)]
    said.append(bound.may_say("timeout"))

    assert said == [True] * MOST_LINES + [False] * 4
    assert caplog.messages == []
    now[0] = WHILE_SECONDS
    bound.say_left_out()
    assert caplog.messages == ["4 more lines were left out in 10 s: 3 answered 500, 1 timeout"]
    assert bound.may_say("answered 500")
    now[0] *= 2
    bound.say_left_out()
    assert len(caplog.messages) == 1
