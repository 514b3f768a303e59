"""A ticket's variables: the JSON text that a company keeps with it (decision T10). Pure."""

import json
from typing import Any

Diff = dict[str, dict[str, Any]]


def parse_variables(text: str | None) -> dict[str, Any]:
    """The variables in a stored text; none were given is the same as none at all."""
    return json.loads(text) if text else {}


def diff(was: str | None, now: str | None) -> Diff:
    """What a replacement added, removed and changed, key by key: `changed` has both values."""
    old, new = parse_variables(was), parse_variables(now)
    return {
        "added": {key: new[key] for key in new.keys() - old.keys()},
        "removed": {key: old[key] for key in old.keys() - new.keys()},
        "changed": {
            key: [old[key], new[key]]
            for key in old.keys() & new.keys()
            if not is_same_data(old[key], new[key])
        },
    }


def is_same_data(one: Any, other: Any) -> bool:
    # As JSON: to Python, true is 1 and 1 is 1.0.
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
