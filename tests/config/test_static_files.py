"""Styles, scripts and fonts: compressed, and cached until their content changes."""

import gzip
import re

import pytest
from django.contrib.staticfiles import finders
from django.templatetags.static import static
from django.test import Client
from pytest_django import Settings

from config import static_files

STYLE, SCRIPT, FONT = "desk/shell.css", "desk/shell.js", "desk/fonts/icons.woff2"
YEAR = "max-age=31536000, immutable"


@pytest.mark.parametrize("name", [STYLE, SCRIPT, "desk/ticket.css"])
def test_static_files_are_compressed_and_cached_for_a_year(client: Client, name: str) -> None:
    plain = client.get(static(name))
    packed = client.get(static(name), headers={"Accept-Encoding": "gzip, br"})

    assert gzip.decompress(packed.content) == plain.content
    assert len(packed.content) < len(plain.content) / 2
    assert YEAR in packed.headers["Cache-Control"]
    assert packed.headers["Vary"] == "Accept-Encoding"
    assert "Content-Encoding" not in plain.headers


def test_an_address_without_the_hash_or_with_another_is_kept_for_a_minute(client: Client) -> None:
    for query in ("", "?v=000000000000"):
        answer = client.get(f"/static/{STYLE}{query}")

        assert answer.status_code == 200
        assert answer.headers["Cache-Control"] == "public, max-age=60"


def test_cached_file_is_not_sent_again(client: Client) -> None:
    etag = client.get(static(SCRIPT)).headers["ETag"]

    answer = client.get(static(SCRIPT), headers={"If-None-Match": etag})

    assert (answer.status_code, answer.content) == (304, b"")


def test_another_content_has_another_address(
    settings: Settings, tmp_path_factory: pytest.TempPathFactory, client: Client
) -> None:
    folder = tmp_path_factory.mktemp("static")
    settings.STATICFILES_DIRS = [folder]
    settings.DEBUG = True
    finders.get_finder.cache_clear()
    addresses = []
    for content in ("a{}", "b{}"):
        (folder / "probe.css").write_text(content)
        addresses.append(static("probe.css"))
        assert client.get(addresses[-1]).content == content.encode()
    finders.get_finder.cache_clear()
    static_files.cached_files.pop("probe.css")

    assert addresses[0] != addresses[1]


def test_a_style_names_its_fonts_by_their_hash(client: Client) -> None:
    style = client.get(static(STYLE)).content.decode()
    fonts = re.findall(r"url\((/static/[^)]+woff2\?v=\w+)\)", style)

    assert static(FONT) in fonts
    for address in fonts:
        answer = client.get(address, headers={"Accept-Encoding": "gzip"})
        assert answer.headers["Content-Type"] == "font/woff2"
        assert YEAR in answer.headers["Cache-Control"]
        assert "Content-Encoding" not in answer.headers


@pytest.mark.parametrize(
    "path", ["nothing.css", "desk", "", "../config/wsgi.py", "desk/../../config/wsgi.py", "a%00b"]
)
def test_unknown_static_file_is_not_found(client: Client, path: str) -> None:
    assert client.get(f"/static/{path}").status_code == 404


def test_static_files_are_only_read(client: Client) -> None:
    assert client.post(static(STYLE)).status_code == 405
