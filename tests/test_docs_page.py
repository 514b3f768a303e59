"""GET /docs: a page of the description that loads nothing from elsewhere."""

import re

from django.test import Client

ADDRESS = re.compile(r"""(?:src|href)=["']([^"']*)["']""")


def test_loads_everything_from_here_and_finds_it(client: Client) -> None:
    page = client.get("/docs").content.decode()

    addresses = ADDRESS.findall(page)

    assert len(addresses) == 5
    for address in addresses:
        assert re.match("/[^/]", address)
        answer = client.get(address)
        assert answer.status_code == 200, address
        assert answer.getvalue()


def test_runs_no_script_but_files(client: Client) -> None:
    """Run none: the page's policy blocks inline scripts and those from elsewhere."""
    answer = client.get("/docs")

    assert "<script>" not in answer.content.decode()
    policy = dict(part.split(" ", 1) for part in answer["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == "'self'"
    assert "script-src" not in policy


def test_asks_nobody_whether_the_description_is_valid(client: Client) -> None:
    script = client.get("/docs?script=")

    assert script["Content-Type"].startswith("application/javascript")
    assert '"validatorUrl": null' in script.content.decode()
    assert '"/schema"' in script.content.decode()


def test_says_in_json_that_it_is_only_to_read(client: Client) -> None:
    for method in ("OPTIONS", "POST", "PUT"):
        answer = client.generic(method, "/docs")

        assert answer.status_code == 405
        assert answer.json()["statusCode"] == 405
        assert answer["Allow"] == "GET, HEAD"
