"""Consequences of a further language. Run by test_further_language.py, never by itself."""

import re
from datetime import timedelta
from io import StringIO

import polib
import pytest
from django.conf import settings
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.formats import date_format
from django.utils.translation import gettext, ngettext

from companies.models import Company
from core.models import Mail
from desk.first_run.ready_macros import READY_MACROS
from desk.models import Macro, Preferences
from desk.ticket.macros import macros_for
from tests import builders as build
from tests.config import test_languages
from tests.config.test_languages import AT
from tests.desk.test_claim_file import content_of, take, text_of
from tests.desk.words import words
from tests.further_language.settings import CODE
from tickets import jobs, working
from tickets.automations import texts
from tickets.changes.decisions import Decision
from tickets.models import Agent, Automation, Comment, ReasonCode, Ticket
from tickets.statuses import Status
from tools.dev import translations

FIRST_RUN = "/admin/first-run/"
REMIND = {"wait_days": "3", "times": "2", "act": "on", "confirmed": "1"}


@pytest.fixture(autouse=True)
def nothing_kept(db: None) -> None:
    cache.clear()


@pytest.fixture
def lead() -> Client:
    """Sign in a lead who reads the desk in it."""
    user = build.agent("eve", group="lead", available=False).user
    Preferences.objects.create(user=user, language=CODE)
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def theirs() -> Company:
    """Create a company that gets its emails in it."""
    call_command("create_company", "Verda", "--language", CODE, stdout=StringIO())
    company = Company.objects.get(name="Verda")
    company.contact_email = "ana@verda.example"
    company.save()
    return company


@pytest.fixture
def silent(theirs: Company) -> Ticket:
    """Create a ticket with a question to its company, three weeks old."""
    then = timezone.now() - timedelta(days=21)
    new_ticket = build.ticket(theirs, status=Status.INCOMPLETE, created_at=then, updated_at=then)
    Comment.objects.create(
        ticket=new_ticket, by="agent", actor="ada", text="The invoice?", status=4, created_at=then
    )
    return new_ticket


def last_text(ticket: Ticket) -> str:
    return ticket.conversation.order_by("pk").values_list("text", flat=True).last() or ""


def test_no_migration_follows() -> None:
    call_command("makemigrations", check=True, dry_run=True, stdout=StringIO())


def test_no_sentence_is_spanish_in_a_spanish_deployment() -> None:
    assert settings.DESK_LANGUAGE == "es"
    spanish = polib.pofile(str(translations.LOCALE / "es" / "LC_MESSAGES" / "django.po"))
    several = [one for one in spanish if one.msgid_plural]

    with translation.override(CODE):
        leaks = {one.msgid for one in spanish if one.msgid != one.msgstr == gettext(one.msgid)}
        leaks |= {
            one.msgid
            for one in several
            if one.msgid_plural != one.msgstr_plural[1] == ngettext(one.msgid, one.msgid_plural, 2)
        }

    assert len(spanish) > 1000
    assert len(several) > 10
    assert leaks == set()


def test_the_desk_speaks_it_and_english_for_the_rest(lead: Client) -> None:
    html = lead.get("/admin/tickets/ticket/").content.decode()

    assert f'<html lang="{CODE}"' in html
    assert "Neasignitaj" in words(html)
    assert "Escalated" in words(html)
    assert "Escalados" not in html
    assert "Estas 1 agento." in words(lead.get(FIRST_RUN).content.decode())


def test_times_are_written_as_django_does() -> None:
    with translation.override(CODE):
        assert date_format(AT, "DATETIME_FORMAT") == "2-a de januaro 2026, je 03:04"


def test_pages_and_forms_offer_it(lead: Client, silent: Ticket) -> None:
    Preferences.objects.update(language="es")
    offered = f'<option value="{CODE}">Esperanto</option>'
    for page in (
        "/admin/preferences/",
        "/admin/desk/macro/add/",
        reverse("desk_add_agents"),
    ):
        assert offered in lead.get(page).content.decode().replace(" selected", ""), page
    Ticket.objects.update(shipment_id=4101)
    ticket = lead.get(f"/admin/tickets/ticket/{silent.pk}/change/").content.decode()

    dialog = ticket.partition('id="claim-language"')[2].partition("</select>")[0]
    options = re.findall(r'<option value="(\w+)"( selected)? lang="(\w+)">\s*([^<]+)<', dialog)
    assert options[:2] == [("en", "", "en", "English"), ("es", " selected", "es", "Español")]
    assert options[-1] == (CODE, "", CODE, "Esperanto")


# Texts that companies read.


def test_an_automation_s_text_in_it_reaches_a_company(lead: Client, silent: Ticket) -> None:
    page = reverse("desk_automation", args=["remind", silent.type_id])
    fields = re.findall(r'name="texts_(\w+)"', lead.get(page).content.decode())
    assert fields == [code for code, _ in settings.LANGUAGES]

    lead.post(page, {**REMIND, "texts_en": "Are you there?", f"texts_{CODE}": "Ĉu vi estas tie?"})
    assert jobs.run_automations() == 1

    assert last_text(silent) == "Ĉu vi estas tie?"


@pytest.mark.parametrize(
    ("by_language", "expected"),
    [
        ({"en": "Are you there?", "es": "¿Sigue ahí?"}, "Are you there?"),
        ({"es": "¿Sigue ahí?"}, texts.REMINDER),
    ],
)
def test_a_text_that_is_missing_is_english(
    silent: Ticket, by_language: dict[str, str], expected: str
) -> None:
    Automation.objects.create(kind="remind", type_id=silent.type_id, active=True, texts=by_language)

    assert jobs.run_automations() == 1

    assert last_text(silent) == expected
    assert Mail.objects.get().subject == f"Reminder: ticket {silent.pk} needs something from you"


def test_our_text_in_it_goes_before_a_lead_s_in_english(lead: Client, silent: Ticket) -> None:
    Automation.objects.create(
        kind="close", type_id=silent.type_id, active=True, last_texts={"en": "Hello?"}
    )

    page = reverse("desk_automation", args=["close", silent.type_id])
    assert 'placeholder="Ni ne ricevis respondon."' in lead.get(page).content.decode()
    assert jobs.run_automations() == 1

    assert last_text(silent).startswith("Ni ne ricevis respondon.\n\nWithout an answer by ")


@pytest.mark.parametrize(
    ("theirs_too", "expected"), [({}, "Goodwill"), ({f"names_{CODE}": "Bonvolo"}, "Bonvolo")]
)
def test_a_reason_code_s_name_reaches_a_company(
    lead: Client, agent: Agent, theirs: Company, theirs_too: dict[str, str], expected: str
) -> None:
    code = ReasonCode.objects.get(code="goodwill")
    body = {"names_en": "Goodwill", "names_es": "Cortesía", "for_accepted": "on", **theirs_too}
    page = f"/admin/tickets/reasoncode/{code.pk}/change/"
    assert lead.post(page, {**body, "active": "on", "position": 60}).status_code == 302
    shipment = build.shipment(theirs, 4101)
    it = build.ticket(theirs, type_id=5, shipment_id=shipment.pk, status=Status.IN_REVIEW)
    working.move(
        it.pk, Status.ACCEPTED, user=agent.user, decision=Decision(code="goodwill"), reason="Yes."
    )

    text, _ = text_of(content_of(take(lead, it, "pdf", language=CODE, copy="company")))

    assert f"Reason code {expected} " in text


def test_the_first_run_adds_the_macros_that_are_translated(lead: Client, silent: Ticket) -> None:
    html = lead.get(FIRST_RUN).content.decode()
    assert re.search(rf'name="languages" value="{CODE}"[^>]*checked', html)
    assert "Esperanto" in html

    every = [ready.slug for ready in READY_MACROS]
    lead.post(FIRST_RUN, {"do": "macros", "macros": every, "languages": [CODE]})

    macro = Macro.objects.get()
    assert (macro.name, macro.language) == ("Difektita: peti fotojn kaj fakturon", CODE)
    assert macro.requested.startswith("Photo of the damage\n")
    Ticket.objects.update(type_id=5)
    silent.refresh_from_db()
    assert macros_for(silent) == [macro]


def test_documents_that_do_not_name_it_are_noticed() -> None:
    with pytest.raises(AssertionError, match="or Esperanto"):
        test_languages.test_the_documents_name_each_language(settings)
    with pytest.raises(AssertionError):
        test_languages.test_there_is_a_catalogue_for_each_language_but_the_code_s(settings)
