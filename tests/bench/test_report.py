"""Figures become tables and pictures; runs whose books do not balance become neither."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench import growing_sections, hour_picture, pictures, report, results
from bench.books import Books
from bench.measure import in_ms
from bench.outcome import Outcome
from bench.results import Kept

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
TIMES = {"p50": 12.0, "p95": 20.0, "p99": 30.5, "max": 44.0}
ISOLATION = {
    "rates": [
        {
            "events_per_s": 60.0,
            "without": {"healthy_ms": TIMES, "delivered": 1200},
            "with": {"healthy_ms": TIMES, "delivered": 1080},
            "p99_ratio": 1.0,
        }
    ]
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
MACHINE = {
    "measured_at": "2026-01-01 00:00 UTC",
    "cores": 2,
    "processor": "A processor",
    "additions_per_us": 20,
    "memory_gb": 8,
    "system": "Linux 6",
    "file_system": "ext4",
    "python": "3.11.7",
    "load_before": 0.1,
    "postgres": {"server_version": "18", "fsync": "on", "synchronous_commit": "on"},
}


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the page, with no results yet."""
    copy = tmp_path / "performance.md"
    copy.write_text(report.PAGE.read_text())
    monkeypatch.setattr(report, "PAGE", copy)
    growing = tmp_path / "growing.md"
    growing.write_text(report.GROWING.read_text())
    monkeypatch.setattr(report, "GROWING", growing)
    monkeypatch.setattr(report, "PICTURES", tmp_path / "pictures")
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    return copy


def test_the_page_shows_what_was_kept_and_names_what_was_not_measured(page: Path) -> None:
    results.keep("drain", Kept("bench/drain --size 20000", MACHINE, DRAIN))

    report.write()

    text = page.read_text()
    assert "| parceldesk | 20,000 | 9,000 | 0.040 | 0.050 |" in text
    assert "| django-webhook 0.0.15 | 1,000 | 120 | 0.040 | 0.050 | 75 times |" in text
    assert "`bench/drain --size 20000`, 2026-01-01 00:00 UTC: 2 cores" in text
    assert "![Deliveries a second over what waits](pictures/throughput.svg)" in text
    assert "Not measured yet: `bench/live --write`." in text
    assert (page.parent / "pictures" / "throughput.svg").exists()


def test_writing_the_page_twice_changes_nothing(page: Path) -> None:
    results.keep("isolation", Kept("bench/isolation", MACHINE, ISOLATION))
    report.write()
    once = page.read_text()

    report.write()

    assert page.read_text() == once


@pytest.mark.parametrize("page", [report.PAGE, report.GROWING], ids=lambda page: page.name)
def test_the_pages_say_what_was_measured_last(
    page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(report, "PICTURES", tmp_path / "pictures")

    assert report.filled_in(page.read_text()) == page.read_text()


def test_what_so_many_deliveries_need_follows_from_the_figures() -> None:
    team = {"workers": 1, "loops": 1, "deliveries_per_s": 1000.0, "connections": 3, "parts": [1.0]}
    cpu = {"worker": 0.1, "postgres": 0.05}
    figures = {"teams": [team | {"cpu_s_per_1000": cpu, "bytes": {"wal": 2000, "disk": 1500}}]}

    rows = [row.strip("| ").split(" | ") for row in growing_sections.needs(figures).splitlines()]

    assert {row[0]: row[-1] for row in rows[2:]} == {
        "deliveries/s, mean": "1,157",
        "deliveries/s, peak (3 times the mean)": "3,472",
        "loops, a worker each, 50% busy at the peak": "7",
        "cores of the workers at the peak": "0.35",
        "cores of PostgreSQL at the peak": "0.17",
        "connections of the workers": "21",
        "WAL a day, GB": "200.0",
        "on disk after 30 days, GB": "4,500.0",
    }


@pytest.mark.parametrize(
    "picture",
    [pictures.throughput(DRAIN), pictures.isolation(ISOLATION), hour_picture.hour(HOUR)],
    ids=["line", "bars", "time"],
)
def test_pictures_are_svg_for_light_and_dark(picture: str) -> None:
    assert ElementTree.fromstring(picture).tag.endswith("svg")  # noqa: S314 - our own
    assert "prefers-color-scheme: dark" in picture
    assert "nan" not in picture


def test_the_picture_of_an_hour_tells_what_happened_within_it() -> None:
    picture = hour_picture.hour(HOUR)

    assert ("worker killed" in picture, "bad neighbours" in picture) == (True, True)
    assert "checkpoint" not in picture
    # From a quarter of the time to its end, where the picture ends too.
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
