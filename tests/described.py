"""GET /schema as tests read it, and checks of values against its shapes."""

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
    """A method of a path."""

    path: str
    method: str
    spec: Schema = field(compare=False)

    def __str__(self) -> str:
        return self.spec["operationId"]

    @property
    def takes_body(self) -> bool:
        return "requestBody" in self.spec

    @property
    def idempotent(self) -> bool:
        names = [parameter["name"] for parameter in self.spec.get("parameters", [])]
        return "Idempotency-Key" in names

    @property
    def responses(self) -> Schema:
        return self.spec["responses"]

    @property
    def refusals(self) -> Schema:
        return {code: one for code, one in self.responses.items() if code not in ("200", "304")}

    def bodies(self) -> list[Any]:
        """Return the examples of its request body, as they stand."""
        return [*examples(self.spec["requestBody"]).values()] if self.takes_body else []


@cache
def description() -> Schema:
    answer = Client().get("/schema")
    assert answer.status_code == 200
    return json.loads(answer.content)


@cache
def operations() -> list[Operation]:
    """Return those of companies: the platform's address has another tag."""
    paths = description()["paths"].items()
    every = [Operation(path, method, spec) for path, own in paths for method, spec in own.items()]
    return [each for each in every if each.spec["tags"] != ["Platform"]]


def operation(id: str) -> Operation:
    (match,) = [each for each in operations() if str(each) == id]
    return match


def schema(part: Schema) -> Schema:
    """Return the schema of a request body or a response."""
    return part["content"]["application/json"]["schema"]


def examples(part: Schema) -> dict[str, Any]:
    entries = part["content"]["application/json"].get("examples", {})
    return {name: example["value"] for name, example in entries.items()}


def code_of(refusal: Any) -> str:
    """Return the code for programs in a refusal, in whichever shape it is."""
    return refusal["error"]["reason"] if refusal.get("meta") == "error" else refusal["code"]


def conforms(value: Any, schema: Schema) -> None:
    """Fail on what the schema does not allow, and on members that it does not name."""
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


def has_headers(answer: Any, response: Schema) -> None:
    """Fail if the answer lacks a header that the described response promises."""
    for name, header in response.get("headers", {}).items():
        value = answer[name]
        conforms(int(value) if header["schema"]["type"] == "integer" else value, header["schema"])


def webhooks() -> Iterator[tuple[str, Schema]]:
    for name, methods in description()["webhooks"].items():
        yield name, methods["post"]
