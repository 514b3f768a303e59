import pytest

from tickets.changes import variables

NOTHING: dict[str, dict] = {"added": {}, "removed": {}, "changed": {}}


@pytest.mark.parametrize(
    ("before", "now", "diff"),
    [
        (None, '{"a": 1}', {"added": {"a": 1}, "removed": {}, "changed": {}}),
        ('{"a": 1}', "{}", {"added": {}, "removed": {"a": 1}, "changed": {}}),
        ('{"a": 1}', '{"a": 2}', {"added": {}, "removed": {}, "changed": {"a": [1, 2]}}),
        # Python treats these three as equal, JSON does not.
        ('{"a": 1}', '{"a": true}', {"added": {}, "removed": {}, "changed": {"a": [1, True]}}),
        ('{"a": 1}', '{"a": 1.0}', {"added": {}, "removed": {}, "changed": {"a": [1, 1.0]}}),
        ('{"a": {"x": 1, "y": 2}}', '{"a":{"y":2,"x":1}}', NOTHING),
    ],
)
def test_tells_what_a_replacement_changed(before: str | None, now: str, diff: dict) -> None:
    assert variables.diff(before, now) == diff
