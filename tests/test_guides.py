"""GET /docs/guides: the documents for companies as pages, which run nothing and lead somewhere."""

import re
from html import unescape
from ipaddress import ip_network
from typing import Any

import pytest
from django.conf import settings as configured
from django.test import Client
from pytest_django import Settings

from companies.api.idempotency import LONGEST_KEY
from config.door import allowances
from config.guides import pages
from config.guides.rendering import MARKDOWN, render_document
from shipments.api.serializers import MOST_NUMBERS
from tests.test_docs import anchors
from tickets.statuses import WAITING_FOR_COMPANY, Status

SLUGS = [pages.slug_of(file) for file in pages.GUIDES]
ADDRESS = re.compile(r'(?:src|href)="([^"]*)"')


@pytest.fixture
def rendered_anew() -> Any:
    pages.guides.cache_clear()
    yield
    pages.guides.cache_clear()


def main_of(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, address
    assert answer["Content-Type"] == "text/html; charset=utf-8"
    return answer.content.decode()


def test_the_index_leads_to_every_guide(client: Client) -> None:
    page = main_of(client, "/docs/guides")

    for slug in SLUGS:
        assert f'href="/docs/guides/{slug}"' in page
    assert len(set(SLUGS)) == len(SLUGS)


@pytest.mark.parametrize("slug", SLUGS)
def test_everything_a_guide_links_to_is_there(client: Client, slug: str) -> None:
    page = main_of(client, f"/docs/guides/{slug}")

    for target in map(unescape, ADDRESS.findall(page)):
        address, _, fragment = target.partition("#")
        assert address or fragment
        if address.startswith("https://"):
            continue
        assert not address or address.startswith("/")
        there = page
        if address:
            answer = client.get(address)
            assert answer.status_code == 200, target
            there = answer.getvalue().decode()
        assert not fragment or f' id="{fragment}"' in there, target


@pytest.mark.parametrize("slug", SLUGS)
def test_a_guide_runs_and_loads_nothing_from_elsewhere(client: Client, slug: str) -> None:
    answer = client.get(f"/docs/guides/{slug}")

    page = answer.content.decode()
    assert "<script" not in page
    assert " style=" not in page
    policy = dict(part.split(" ", 1) for part in answer["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["style-src"] == "'self'"
    assert "script-src" not in policy


@pytest.mark.parametrize("slug", SLUGS)
def test_a_guide_has_one_title_and_lists_its_headings(client: Client, slug: str) -> None:
    page = main_of(client, f"/docs/guides/{slug}")

    guide = pages.guides()[slug]
    assert len(re.findall("<h1[ >]", page)) == 1
    assert f"<title>{guide.page.title}</title>" in unescape(page)
    for heading in guide.page.contents:
        assert f'href="#{heading.anchor}"' in page


@pytest.mark.parametrize("file", pages.GUIDES)
def test_anchors_are_those_of_the_hosting_platforms(file: str) -> None:
    text = (pages.DOCS / file).read_text()
    page = render_document(text, lambda target: target)

    assert {heading.anchor for heading in page.contents} <= anchors(pages.DOCS / file)


@pytest.mark.parametrize("address", ["/docs/guides/operating", "/docs/guides/", "/docs/guides/a/b"])
def test_unknown_guide_is_not_found(client: Client, address: str) -> None:
    answer = client.get(address)

    assert answer.status_code == 404
    assert answer.json()["statusCode"] == 404


def test_the_programs_of_clients_are_served_as_they_stand(client: Client) -> None:
    assert {"listen.py", "python/verify.py", "go/verify.go"} <= pages.client_files().keys()
    for path, file in pages.client_files().items():
        answer = client.get(f"/docs/guides/clients/{path}")
        assert answer.content == file.read_bytes()
        assert answer["Content-Type"] == "text/plain; charset=utf-8"
        assert answer["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("path", ["README.md", "../manage.py", "%2e%2e/manage.py", "python", ""])
def test_nothing_else_is_served_beside_them(client: Client, path: str) -> None:
    assert client.get(f"/docs/guides/clients/{path}").status_code == 404


def test_guides_are_only_to_read(client: Client) -> None:
    for address in ("/docs/guides", f"/docs/guides/{SLUGS[0]}"):
        assert client.post(address).status_code == 405
        assert client.head(address).status_code == 200


def test_the_description_leads_to_the_guides(client: Client) -> None:
    description = client.get("/schema").json()["info"]["description"]

    assert "[guides](/docs/guides)" in description
    assert client.get("/docs/guides").status_code == 200


# Inserted values


@pytest.mark.usefixtures("rendered_anew")
def test_shows_the_addresses_that_the_operator_names(client: Client, settings: Settings) -> None:
    settings.SENDER_ADDRESSES = tuple(
        map(ip_network, ("203.0.113.7/32", "198.51.100.0/24", "2001:db8::/48"))
    )

    page = main_of(client, "/docs/guides/addresses")

    for address in ("203.0.113.7\n", "198.51.100.0/24\n", "2001:db8::/48\n"):
        assert address in page


def test_says_where_the_operator_names_none(client: Client) -> None:
    page = main_of(client, "/docs/guides/addresses")

    assert "has not named its addresses" in page
    assert "sender addresses --" not in page


def test_links_that_companies_cannot_follow_are_words_alone() -> None:
    text = "# T\n\n[here](../a.md), [there](b.md#c), [far](https://example.com)"

    page = render_document(
        text, lambda to: "/b#c" if to.startswith("b") else to if "://" in to else None
    )

    assert (
        '<p>here, <a href="/b#c">there</a>, <a href="https://example.com">far</a></p>' in page.html
    )


def test_shows_html_and_does_not_obey_it() -> None:
    page = render_document("# T\n\n<script>x</script> [a](javascript:x)\n", lambda target: target)

    assert "<script>" not in page.html
    assert "javascript:x" not in "".join(ADDRESS.findall(page.html))
    assert MARKDOWN.options["html"] is False


# Documented numbers


def numbers(file: str) -> dict[str, str]:
    """Return the first two cells of every row of the tables of a guide."""
    rows = re.findall(r"^\| (.+?) \| (.+?) \|", (pages.DOCS / file).read_text(), re.MULTILINE)
    return dict(rows)


def test_tells_the_limits_as_they_are() -> None:
    numbers_told = numbers("guides/limits.md")
    mib = configured.MAX_BODY_BYTES // 2**20

    for start, words in {
        "reading": str(configured.RATE_LIMITS["read"]),
        "writing": str(configured.RATE_LIMITS["write"]),
        "sending": str(configured.RATE_LIMITS["send"]),
        "open connections": f"{configured.CONNECTIONS_PER_ADDRESS},",
        "a request's body": f"{mib} MiB, then 413; {allowances.STRANGERS_BODY // 1024} KiB without",
        "time to send": f"{allowances.HEAD_SECONDS:.0f} seconds for the headers, "
        f"{allowances.BODY_SECONDS:.0f} for the body",
        "tracking numbers": str(MOST_NUMBERS),
        "`Idempotency-Key`": f"{LONGEST_KEY} characters",
        "webhooks": f"{configured.WEBHOOKS_PER_COMPANY} per company",
        "time to respond": f"{configured.DELIVERY_TIMEOUT_SECONDS:.0f} seconds",
        "attempts": f"{len(configured.DELIVERY_RETRY_SECONDS) + 1}, over about three days",
    }.items():
        (row,) = [value for name, value in numbers_told.items() if name.startswith(start)]
        assert row.startswith(words), row


def test_tells_every_status_and_whose_turn_it_is() -> None:
    turns = numbers("guides/tickets.md")

    untold = {each.label for each in Status} - turns.keys()
    assert not untold, f"docs/guides/tickets.md, What happens then: add {untold}"
    for status in Status:
        assert turns[status.label].startswith("yours") == (status in WAITING_FOR_COMPANY)
