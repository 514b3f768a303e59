"""The client of openapi-typescript and openapi-fetch takes new values: tsc checks, Node runs it.

The packages are those of tests/clients/npm/package-lock.json, with their hashes.
"""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.clients.tomorrow import NEW_MEMBER, NEW_NUMBER, NEW_TEXT, answers, closed
from tests.described import Operation, description
from tests.programs import program
from tools.dev.pytest_skips import NO_REGISTRY, NO_REGISTRY_SAYS

pytestmark = pytest.mark.whole
NPM = Path(__file__).with_name("npm")
ANSWERS = list(answers())
OPTIONS = ["--strict", "--module", "nodenext", "--target", "es2022", "--skipLibCheck"]

# Cursors go back unchanged, and unknown values may be compared.
FLOW = """
import createClient from "openapi-fetch";
import type { paths } from "./api.js";

const client = createClient<paths>({ baseUrl: "http://desk.example.com" });

export async function follow(): Promise<string[]> {
  const first = await client.GET("/company/tickets", { params: { query: { limit: 1 } } });
  const cursor = first.data?.next_cursor ?? undefined;
  const next = await client.GET("/company/tickets", { params: { query: { cursor } } });
  const hooks = await client.GET("/webhooks", { params: { query: {} } });
  const after = hooks.data?.next_cursor ?? undefined;
  await client.GET("/webhooks", { params: { query: { cursor: after } } });
  const params = { header: { "If-None-Match": 'W/"0"' } };
  await client.GET("/webhook-types", { params });
  if (next.error?.code === "code_of_tomorrow") return [];
  const rows = hooks.data?.data ?? [];
  return rows.filter((row) => row.type === "parcel.returned").map((row) => row.type);
}
"""

RUN = """
import { readFileSync } from "node:fs";
import createClient from "openapi-fetch";

const cases = JSON.parse(readFileSync(0, "utf8"));
const different = [];
for (const [method, path, ids, status, answer] of cases) {
  const body = JSON.stringify(answer);
  const headers = { "Content-Type": "application/json" };
  const fetch = async () => new Response(body, { status, headers });
  const client = createClient({ baseUrl: "http://desk.example.com", fetch });
  const { data, error } = await client[method](path, { params: { path: ids } });
  const read = JSON.stringify(status === 200 ? data : error);
  if (read !== body) different.push([method, path, status]);
}
console.log(JSON.stringify([cases.length, different]));
"""


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the packages in a folder. Skips without npm or its registry."""
    npm = program("npm")
    folder = tmp_path_factory.mktemp("npm")
    for name in ("package.json", "package-lock.json"):
        shutil.copy(NPM / name, folder)
    options = ["--ignore-scripts", "--no-audit", "--no-fund"]
    # A network that drops packets counts as no network.
    options += ["--fetch-retries=1", "--fetch-timeout=30000"]
    result = run(npm, "ci", *options, folder=folder)
    if result.returncode and any(code in result.stderr for code in NO_REGISTRY_SAYS):
        pytest.skip(NO_REGISTRY)
    assert result.returncode == 0, result.stderr
    return folder


def run(*command: str | Path, folder: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=240, **options
    )


def type_check(packages: Path, schema: dict[str, Any], files: dict[str, str]) -> str:
    """Return tsc's errors about the files, each of which may import ./api.js."""
    (packages / "schema.json").write_text(json.dumps(schema))
    bin = packages / "node_modules" / ".bin"
    result = run(bin / "openapi-typescript", "schema.json", "-o", "api.d.ts", folder=packages)
    assert result.returncode == 0, result.stderr
    for name, text in files.items():
        (packages / name).write_text(text)
    return run(bin / "tsc", "--noEmit", *OPTIONS, *files, folder=packages).stdout


def typed_answers() -> str:
    lines = ['import type { paths } from "./api.js";']
    for number, (operation, status, answer, _) in enumerate(ANSWERS):
        place = f'paths["{operation.path}"]["{operation.method}"]["responses"][{status}]'
        type = f'{place}["content"]["application/json"]'
        lines.append(f"export const answer{number}: {type} = {json.dumps(described(answer))};")
    return "\n".join(lines)


def described(answer: Any) -> Any:
    """Leave out the new members: TypeScript refuses them in literals, though not in answers."""
    if isinstance(answer, list):
        return [described(each) for each in answer]
    if isinstance(answer, dict):
        return {key: described(one) for key, one in answer.items() if key not in NEW_MEMBER}
    return answer


def path_ids(operation: Operation) -> dict[str, str]:
    parameters = operation.spec.get("parameters", [])
    return {each["name"]: "1" for each in parameters if each["in"] == "path"}


def test_new_values_and_cursors_are_of_the_right_type(packages: Path) -> None:
    files = {"answers.ts": typed_answers(), "flow.ts": FLOW}

    assert type_check(packages, description(), files) == ""


def test_closed_lists_would_be_noticed(packages: Path) -> None:
    errors = type_check(packages, closed(description()), {"answers.ts": typed_answers()})

    assert f"""Type '"{NEW_TEXT}"' is not assignable""" in errors
    assert f"Type '{NEW_NUMBER}' is not assignable" in errors


def test_every_answer_arrives_as_it_was_sent(packages: Path) -> None:
    cases = [
        [operation.method.upper(), operation.path, path_ids(operation), status, answer]
        for operation, status, answer, _ in ANSWERS
    ]
    (packages / "run.mjs").write_text(RUN)

    ran = run(program("node"), "run.mjs", folder=packages, input=json.dumps(cases))

    assert (ran.returncode, ran.stderr) == (0, "")
    assert json.loads(ran.stdout) == [len(cases), []]
