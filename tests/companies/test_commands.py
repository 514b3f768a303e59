import json
from collections.abc import Iterator
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection

from companies.commands import CommandResult
from companies.management.commands import issue_token
from companies.models import ApiToken, AuditEntry, Company, PlatformToken


def run(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def test_makes_a_company(db: None) -> None:
    output = json.loads(run("create_company", "Envíos Ñandú"))

    assert output == {"company_id": Company.objects.get().pk, "name": "Envíos Ñandú"}


def test_refuses_a_company_without_a_name(db: None) -> None:
    with pytest.raises(CommandError, match="must have a name"):
        run("create_company", "  ")
    assert not Company.objects.exists()


def test_takes_email_address_and_language_of_a_company(db: None) -> None:
    run("create_company", "Acme", "--contact-email", "dev@acme.example", "--language", "es")
    run("create_company", "Cedar", "--time-zone", "America/Mexico_City")
    run("create_company", "Birch", "--no-ticket-emails")

    with pytest.raises(CommandError, match="There is no time zone Mars/Base"):
        run("create_company", "Dahlia", "--time-zone", "Mars/Base")
    acme, cedar, birch = Company.objects.order_by("pk")
    assert (acme.time_zone, cedar.time_zone) == ("", "America/Mexico_City")
    assert (acme.contact_email, acme.language, acme.ticket_emails) == ("dev@acme.example", "es", 1)
    assert (birch.contact_email, birch.written_language, birch.ticket_emails) == ("", "en", False)


@pytest.mark.parametrize("address", ["dev", "a@b.example\nBcc: c@d.example"])
def test_refuses_a_contact_that_is_no_address(db: None, address: str) -> None:
    with pytest.raises(CommandError, match="is not an email address"):
        run("create_company", "Acme", "--contact-email", address)
    assert not Company.objects.exists()


def test_prints_the_token_alone(company: Company) -> None:
    token = run("issue_token", str(company.pk), "--expires-in", "30")

    assert token.startswith("test_")
    assert token.count("\n") == 1
    assert ApiToken.objects.get().expires_at is not None


@pytest.mark.parametrize("days", ["0", "-1", "nan"])
def test_refuses_a_token_that_never_lived(company: Company, days: str) -> None:
    with pytest.raises(CommandError, match="--expires-in"):
        run("issue_token", str(company.pk), "--expires-in", days)


def test_refuses_a_token_for_nobody(db: None) -> None:
    with pytest.raises(CommandError, match="There is no company 77"):
        run("issue_token", "77")


def test_revokes_by_token_and_by_prefix(company: Company) -> None:
    first, second = (run("issue_token", str(company.pk)).strip() for _ in range(2))
    run("revoke_token", first)
    run("revoke_token", ApiToken.objects.get(revoked_at=None).prefix)

    assert not ApiToken.objects.filter(revoked_at=None).exists()
    with pytest.raises(CommandError, match="There is no live token"):
        run("revoke_token", second)


def test_the_platform_has_tokens_of_its_own(db: None) -> None:
    token = run("issue_platform_token", "--name", "warehouse", "--expires-in", "30")
    run("issue_platform_token")

    assert token.startswith("feed_test_")
    assert token.count("\n") == 1
    token_row = PlatformToken.objects.get(name="warehouse")
    assert token.startswith(token_row.prefix)
    assert token.strip() not in json.dumps([*PlatformToken.objects.values()], default=str)
    listing = run("list_platform_tokens")
    assert f"{token_row}  live  never used  warehouse\n" in listing
    assert listing.count("\n") == 2

    run("revoke_platform_token", str(token_row))

    listed = [json.loads(line) for line in run("list_platform_tokens", "--json").splitlines()]
    assert [each["state"] for each in listed] == ["revoked", "live"]
    assert listed[0].keys() == {"token", "state", "name", "last_used_at", "expires_at"}


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        (["issue_platform_token", "--expires-in", "0"], "--expires-in"),
        (["issue_platform_token", "--name", "x" * 101], "more than 100 characters"),
        (["revoke_platform_token", "feed_test_unknown"], "There is no live token"),
    ],
)
def test_refuses_an_unknown_platform_token(db: None, arguments: list[str], refusal: str) -> None:
    with pytest.raises(CommandError, match=refusal):
        run(*arguments)
    assert not PlatformToken.objects.exists()


def test_a_company_s_token_is_revoked_by_its_own_command_only(company: Company) -> None:
    token = run("issue_token", str(company.pk)).strip()

    with pytest.raises(CommandError, match="There is no live token"):
        run("revoke_platform_token", token)
    assert ApiToken.objects.get().revoked_at is None


def test_ambiguous_prefix_revokes_no_token(company: Company) -> None:
    for _ in range(2):
        run("issue_token", str(company.pk))
    ApiToken.objects.update(prefix="test_12345678")

    with pytest.raises(CommandError, match="There are several tokens that begin with"):
        run("revoke_token", "test_12345678")
    assert ApiToken.objects.filter(revoked_at=None).count() == 2


def test_abbreviated_option_is_refused(company: Company) -> None:
    with pytest.raises(CommandError, match="unrecognized arguments: --conf"):
        run("erase_company", str(company.pk), "--conf", company.name)
    assert Company.objects.get().erased_at is None


def test_a_database_that_fails_is_said_in_a_sentence(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> CommandResult:
        raise OperationalError("connection failed: Connection refused\n\tIs the server running?")

    monkeypatch.setattr(issue_token.Command, "run", fail)

    with pytest.raises(CommandError) as caught:
        run("issue_token", str(company.pk))
    assert str(caught.value) == (
        "The database failed: connection failed: Connection refused."
        " Mend what manage.py doctor --only database says, then run this again."
    )


def test_a_database_that_fails_in_the_middle_of_a_list_is_said_in_a_sentence(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lines() -> Iterator[str]:
        yield "1  Acme"
        raise OperationalError("the connection is lost")

    monkeypatch.setattr(issue_token.Command, "run", lambda *_, **__: CommandResult(lines(), []))

    with pytest.raises(CommandError, match="The database failed: the connection is lost"):
        run("issue_token", "1")


def test_a_database_of_another_version_is_said_in_a_sentence(company: Company) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE companies_apitoken RENAME TO elsewhere")

    with pytest.raises(CommandError, match=r"Run manage\.py migrate"):
        run("issue_token", str(company.pk))


def test_prefix_shared_by_two_companies_is_ambiguous(company: Company, birch: Company) -> None:
    for number, owner in enumerate((company, birch)):
        digest = f"{number:064}"
        ApiToken.objects.create(company=owner, prefix="test_same", digest=digest)

    with pytest.raises(CommandError, match="There are several tokens"):
        run("revoke_token", "test_same")

    assert ApiToken.objects.filter(revoked_at=None).count() == 2
    assert AuditEntry.objects.get(act="revoke_token").company_id is None
