"""Variables of a ticket: a JSON object that its company stores with it (decision T10). Pure."""

import json
from typing import Any

Diff = dict[str, dict[str, Any]]


def parse_variables(text: str | None) -> dict[str, Any]:
    """Parse the stored text; a missing one is equal to an empty object."""
    return json.loads(text) if text else {}


def diff(before: str | None, after: str | None) -> Diff:
    """Return what a replacement added, removed and changed; `changed` has both values."""
    old, new = parse_variables(before), parse_variables(after)
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
    # Compared as JSON, since in Python True == 1 == 1.0.
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
