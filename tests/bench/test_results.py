"""Figures are stored with their pictures; runs whose books do not balance are not stored."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tools.bench import hour_picture, pictures, results
from tools.bench.books import Books
from tools.bench.measure import in_ms
from tools.bench.outcome import Outcome
from tools.bench.results import Result

CPU = {"worker": 0.04, "postgres": 0.05, "broker": 0.0}
PEER = {"size": 1000, "deliveries_per_s": 120.0, "cpu_s_per_1000": CPU, "ratio": 75.0}
DRAIN = {
    "by_size": [
        {"size": size, "deliveries_per_s": rate, "cpu_s_per_1000": CPU}
        for size, rate in ((1000, 5000.0), (20_000, 9000.0))
    ],
    "peers": {"django-webhook": PEER, "plain": PEER},
    "libcurl_alone": {"requests_per_s": 20_000.0, "cpu_s_per_1000": 0.03},
}
MINUTES = [
    {"minute": 1.0, "p50_ms": 8.0, "p99_ms": 20.0, "p999_ms": 40.5},
    {"minute": 2.0, "p50_ms": 0.0, "p99_ms": 30.0, "p999_ms": None},
]
HOUR = {
    "longest_ms": 100.0,
    "minutes": MINUTES,
    "marks": [
        {"at": -5.0, "word": "checkpoint", "end": -5.0},
        {"at": 30.0, "word": "bad neighbours", "end": 130.0},
        {"at": 70.0, "word": "worker killed", "end": 75.0},
    ],
}
MACHINE = {"cores": 2, "load_before": 0.1}


def test_stored_run_has_its_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    monkeypatch.setattr(results, "PICTURES", tmp_path)

    results.keep("drain", Result("tools/bench/drain --size 20000", MACHINE, DRAIN))

    assert json.loads((tmp_path / "drain.json").read_text())["figures"] == DRAIN
    assert (tmp_path / "throughput.svg").read_text() == pictures.throughput(DRAIN)


@pytest.mark.parametrize("name", results.DRAWN)
def test_pictures_in_the_docs_are_of_the_stored_figures(name: str) -> None:
    file, draw = results.DRAWN[name]
    stored = json.loads((results.FOLDER / f"{name}.json").read_text())

    assert (results.PICTURES / file).read_text() == draw(stored["figures"])


@pytest.mark.parametrize(
    "picture",
    [pictures.throughput(DRAIN), hour_picture.hour(HOUR)],
    ids=["line", "time"],
)
def test_pictures_are_svg_for_light_and_dark(picture: str) -> None:
    assert ElementTree.fromstring(picture).tag.endswith("svg")  # noqa: S314 - our own
    assert "prefers-color-scheme: dark" in picture
    assert "nan" not in picture


def test_the_picture_of_an_hour_tells_what_happened_within_it() -> None:
    picture = hour_picture.hour(HOUR)

    assert ("worker killed" in picture, "bad neighbours" in picture) == (True, True)
    assert "checkpoint" not in picture
    # The bar starts at a quarter of the time and ends with the picture.
    assert '<rect class="happened" x="190.0" y="348" width="360.0" height="9"/>' in picture


def test_books_that_do_not_balance_void_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    books = Books(published=5, delivered=3, waiting=1, given_up=0, received=2, repeats=0)

    Outcome([("head",)], {"lost": books.lost}, books.troubles()).show()

    lines = capsys.readouterr().out.splitlines()
    assert [line.startswith("void: ") for line in lines] == [False, True, True, False]
    assert json.loads(lines[-1]) == {"void": True, "lost": 1}


def test_books_that_balance_have_no_troubles() -> None:
    assert Books(5, delivered=3, waiting=1, given_up=1, received=3, repeats=2).troubles() == []


def test_percentiles_are_values_that_occurred() -> None:
    times = in_ms([number / 1000 for number in range(1, 101)])

    assert times == {"p50": 50.0, "p95": 95.0, "p99": 99.0, "max": 100.0}
