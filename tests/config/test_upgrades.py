"""What a database must have been through before this version can migrate it."""

import pytest
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connection

from config.upgrades import half_applied, last_unsquashed_commit

COMPANIES = {
    ("companies", "0001_initial"),
    ("companies", "0002_plan"),
    ("companies", "0003_kept_headers"),
}


def forget(app: str, name: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = %s AND name = %s", [app, name])


def test_migrate_says_where_a_half_migrated_database_must_go_first(db: None) -> None:
    forget("tickets", "0012_exporting_tickets")

    with pytest.raises(SystemCheckError) as refused:
        call_command("migrate", skip_checks=False)

    assert "some of the migrations that tickets.0001_initial replaces" in str(refused.value)
    assert last_unsquashed_commit() in str(refused.value)
    assert "companies" not in str(refused.value)


@pytest.mark.parametrize("missing", sorted(COMPANIES - {("companies", "0001_initial")}))
def test_knows_a_database_that_has_a_part(missing: tuple[str, str]) -> None:
    assert [*half_applied(COMPANIES - {missing})] == [("companies", "0001_initial")]


def test_knows_a_database_that_has_the_first_alone() -> None:
    assert [*half_applied({("companies", "0001_initial")})] == [("companies", "0001_initial")]


def test_has_nothing_against_an_empty_database_or_one_that_has_all() -> None:
    assert [*half_applied(set())] == []
    assert [*half_applied(COMPANIES)] == []
    # Before its name is recorded, at the end of the first migrate.
    assert [*half_applied(COMPANIES - {("companies", "0001_initial")})] == []


def test_the_manual_names_the_commit() -> None:
    manual = (settings.BASE_DIR / "docs" / "operating.md").read_text()

    assert f"commit {last_unsquashed_commit()[:7]}" in manual
