"""GET /schema as tests read it, and whether a value has the shape that it tells."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from django.test import Client
from jsonschema import Draft202012Validator

Schema = dict[str, Any]


@dataclass(frozen=True)
class Operation:
    """One method of one path."""

    path: str
    method: str
    told: Schema = field(compare=False)

    def __str__(self) -> str:
        return self.told["operationId"]

    @property
    def takes_body(self) -> bool:
        return "requestBody" in self.told

    @property
    def idempotent(self) -> bool:
        names = [parameter["name"] for parameter in self.told.get("parameters", [])]
        return "Idempotency-Key" in names

    @property
    def responses(self) -> Schema:
        return self.told["responses"]

    @property
    def refusals(self) -> Schema:
        return {code: told for code, told in self.responses.items() if code not in ("200", "304")}

    def bodies(self) -> list[Any]:
        """The examples of what to send, as they stand."""
        return [*examples(self.told["requestBody"]).values()] if self.takes_body else []


@cache
def description() -> Schema:
    answer = Client().get("/schema")
    assert answer.status_code == 200
    return json.loads(answer.content)


@cache
def operations() -> list[Operation]:
    """Those of companies: the platform's address is told apart by its tag."""
    paths = description()["paths"].items()
    every = [Operation(path, method, told) for path, told in paths for method, told in told.items()]
    return [each for each in every if each.told["tags"] != ["Platform"]]


def operation(id: str) -> Operation:
    (found,) = [each for each in operations() if str(each) == id]
    return found


def schema(part: Schema) -> Schema:
    """Of a request body or a response."""
    return part["content"]["application/json"]["schema"]


def examples(part: Schema) -> dict[str, Any]:
    shown = part["content"]["application/json"].get("examples", {})
    return {name: example["value"] for name, example in shown.items()}


def code_of(refusal: Any) -> str:
    """The word for programs, whichever face has refused."""
    return refusal["error"]["reason"] if refusal.get("meta") == "error" else refusal["code"]


def conforms(value: Any, schema: Schema) -> None:
    """Fails on what the schema does not allow, and on members that it does not name."""
    whole = {**strict(schema), "components": components()}
    validator = Draft202012Validator(whole, format_checker=Draft202012Validator.FORMAT_CHECKER)
    wrong = [f"{each.json_path}: {each.message}" for each in validator.iter_errors(value)]
    assert not wrong, "; ".join(wrong)


@cache
def components() -> Schema:
    return strict(description()["components"])


def strict(schema: Any) -> Any:
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {name: strict(each) for name, each in schema.items()}
    if schema.get("type") == "object" and "properties" in schema:
        inner.setdefault("additionalProperties", False)
    return inner


def has_headers(answer: Any, told: Schema) -> None:
    """Fails on a header that `told`, a response, promises and the answer lacks."""
    for name, header in told.get("headers", {}).items():
        value = answer[name]
        conforms(int(value) if header["schema"]["type"] == "integer" else value, header["schema"])


def webhooks() -> Iterator[tuple[str, Schema]]:
    for name, methods in description()["webhooks"].items():
        yield name, methods["post"]
