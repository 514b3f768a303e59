"""A second party at each lock of this app."""

from tests.locks import covered_elsewhere

covered_elsewhere(
    "shipments/feed/batch.py::fetch",
    "tests/shipments/test_ingest_at_once.py::test_the_second_builds_on_what_the_first_recorded",
)
