"""Texts of automations in the company's language: those of the leads, else the defaults."""

from datetime import datetime

from django.utils import translation
from django.utils.translation import gettext, gettext_noop

from companies.models import Company
from core.values.languages import FALLBACK, sentence_in
from core.values.zones import moment_text
from tickets.automations.waits import after_days
from tickets.models import Automation

REMINDER = gettext_noop(
    "We still need your answer to go on with this ticket. Please send what we asked for."
)
LAST_REMINDER = gettext_noop(
    "We have not heard from you, and we cannot go on with this ticket without your answer."
)
DECLINED = gettext_noop(
    "We declined this ticket because we got no answer to what we asked for. If you still need it,"
    " appeal the decision and send what is missing."
)


def usual_text(one: Automation, language: str, *, last: bool = False) -> str:
    """Return the text for a language in which the lead wrote none.

    Ours in that language; if the catalogue lacks it, the lead's English text, else ours.
    """
    ours = LAST_REMINDER if last else REMINDER
    if one.kind == Automation.Kind.CLOSE and not last:
        ours = DECLINED
    return sentence_in(language, ours) or own_texts(one, last=last).get(FALLBACK) or ours


def own_texts(one: Automation, *, last: bool) -> dict[str, str]:
    texts: dict[str, str] = one.last_texts if last else one.texts
    return texts


def text_for(one: Automation, company: Company, *, last: bool = False) -> str:
    """Return the text in the company's language."""
    language = company.written_language
    own = own_texts(one, last=last).get(language, "")
    return own or usual_text(one, language, last=last)


def last_reminder(one: Automation, company: Company, now: datetime) -> str:
    """Return the last reminder, always with the time at which the ticket will be declined."""
    last = after_days(one.type_id, now, one.last_days)
    with translation.override(company.written_language):
        until = gettext("Without an answer by %(day)s, this ticket is declined.")
        return "\n\n".join(
            [text_for(one, company, last=True), until % {"day": moment_text(last, company.zone)}]
        )
