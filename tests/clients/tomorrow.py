"""Answers that a later version of the service may send: new values, new members."""

from collections.abc import Iterator
from typing import Any

from tests.described import Operation, description, examples, operations

SCHEMAS = description()["components"]["schemas"]
NEW_MEMBER = {"member_of_tomorrow": {"a": [1, None]}}
NEW_TEXT, NEW_NUMBER = "something_new", 987


def answers() -> Iterator[tuple[Operation, int, Any, list[str]]]:
    """Yield each example of each answer, and the names of its members that have a new value."""
    for operation in operations():
        for status, part in {"200": operation.responses["200"], **operation.refusals}.items():
            schema = part["content"]["application/json"]["schema"]
            for example in examples(part).values():
                names: list[str] = []
                yield operation, int(status), renewed(example, schema, "", names), names


def renewed(value: Any, schema: dict[str, Any], name: str, names: list[str]) -> Any:
    """Replace each value that the description allows to grow by a new one."""
    for branch in branches(schema):
        if value is None:
            continue
        if is_open(branch):
            names.append(name)
            return NEW_NUMBER if isinstance(value, int) else NEW_TEXT
        if isinstance(value, dict) and "properties" in branch:
            members = {key: one for key, one in branch["properties"].items() if key in value}
            new = {key: renewed(value[key], one, key, names) for key, one in members.items()}
            return {**value, **new, **NEW_MEMBER}
        if isinstance(value, list) and "items" in branch:
            return [renewed(each, branch["items"], name, names) for each in value]
    return value


def branches(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "$ref" in schema:
        yield from branches(SCHEMAS[schema["$ref"].rpartition("/")[2]])
        return
    yield schema
    for word in ("allOf", "oneOf", "anyOf"):
        for each in schema.get(word, ()):
            yield from branches(each)


def is_open(schema: dict[str, Any]) -> bool:
    about = schema.get("description", "")
    if not isinstance(about, str):
        return False  # a member with that name
    return "More may come." in about or about.startswith("Stable, for programs")


def closed(part: Any) -> Any:
    """Return the description with a closed list wherever values may grow."""
    if isinstance(part, list):
        return [closed(each) for each in part]
    if not isinstance(part, dict):
        return part
    changed = {name: closed(each) for name, each in part.items()}
    if is_open(changed) and "examples" in changed:
        nothing = [None] if "null" in changed.get("type", ()) else []
        changed["enum"] = [*changed["examples"], *nothing]
    return changed
