"""Webhooks in words for people of their company: conditions, advice, refusals."""

from datetime import datetime
from functools import cache
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext, gettext_noop

from core.values.zones import active_zone, moment_text
from deliveries.http.answers import Failure
from deliveries.models import Delivery
from deliveries.monitoring import needs_attention
from deliveries.monitoring.delivery_details import Facts, attempt_outcome, facts_of
from deliveries.monitoring.needs_attention import NeedsAttention
from deliveries.on_demand import advice
from deliveries.on_demand.sample_delivery import REASONS, Result
from webhooks.event_types import registry
from webhooks.models import Webhook
from webhooks.targets import BadTarget

# Colour, word and sentence of each condition.
STATES = {
    "well": ("green", gettext_noop("Works"), gettext_noop("Deliveries arrive.")),
    "new": ("", gettext_noop("No deliveries yet"), gettext_noop("The next event is sent here.")),
    "behind": ("amber", gettext_noop("Behind"), gettext_noop("Deliveries wait for their turn.")),
    "failing": ("red", gettext_noop("Failing"), gettext_noop("Nothing is lost: we try again.")),
    "held": ("amber", gettext_noop("On hold"), gettext_noop("We send nothing there for now.")),
    "paused": ("amber", gettext_noop("Paused"), gettext_noop("Nothing is sent until it resumes.")),
    "unreadable": ("red", gettext_noop("Needs a new secret"), gettext_noop("Deliveries wait.")),
    "fetched": ("", gettext_noop("Read by programs"), gettext_noop("Nothing is sent to a URL.")),
}
SAMPLES = {
    "Python": "python/verify.py",
    "JavaScript (Node)": "node/verify.js",
    "PHP": "php/verify.php",
    "Ruby": "ruby/verify.rb",
    "Go": "go/verify.go",
}


def cards_of(webhooks: QuerySet[Webhook]) -> list[dict[str, Any]]:
    """Describe webhooks for pages, in five queries however many they are."""
    now, facts = timezone.now(), facts_of(webhooks)
    return [
        card_of(one, facts.get(one.webhook.pk, Facts()), now)
        for one in needs_attention.describe(webhooks, {}, now)
    ]


def card_of(one: NeedsAttention, facts: Facts, now: datetime) -> dict[str, Any]:
    condition = condition_of(one, facts, now)
    colour, word, sentence = STATES[condition]
    event_type = registry.get(one.webhook.type_id)
    failed = facts.failed if condition == "failing" else None
    return {
        "webhook": one.webhook,
        "title": gettext(event_type.description) if event_type else one.webhook.type_name,
        "colour": colour,
        "word": gettext(word),
        "sentences": [gettext(sentence), *further_sentences(one, facts, condition)],
        "advice": advice_on(failed) if failed else [],
        "missing_since": moment_here(facts.missing_since),
    }


def condition_of(one: NeedsAttention, facts: Facts, now: datetime) -> str:
    """Return the key of STATES."""
    if one.webhook.fetched and one.condition != "paused":
        return "fetched"
    if one.condition != "well":
        return "failing" if one.condition == "resting" else one.condition
    if facts.waiting_since and now - facts.waiting_since > needs_attention.PATIENCE:
        return "behind"
    return "well" if facts.has_any else "new"


def further_sentences(one: NeedsAttention, facts: Facts, condition: str) -> list[str]:
    sentences = []
    if condition == "failing" and one.health.failing_since:
        text = gettext("It has failed since %(moment)s.")
        sentences.append(text % {"moment": moment_here(one.health.failing_since)})
    if condition == "failing" and facts.failed:
        sentences.append(attempt_outcome(facts.failed.last_status, facts.failed.last_error))
    if condition == "paused" and one.webhook.paused_reason:
        reason = gettext(one.webhook.paused_reason)
        sentences.append(gettext("We paused it: %(reason)s") % {"reason": reason})
    if condition == "held" and one.hold:
        sentences += filter(None, [one.hold.public_reason])
        if until := moment_here(one.hold.held_until):
            sentences.append(gettext("The hold ends: %(moment)s.") % {"moment": until})
    if facts.waiting_since and condition not in ("well", "fetched"):
        count = number_format(one.waiting, force_grouping=True)
        count += "+" if one.waiting == needs_attention.MOST_COUNTED else ""
        text = gettext("Waiting, in order: %(count)s, the oldest since %(moment)s.")
        sentences.append(text % {"count": count, "moment": moment_here(facts.waiting_since)})
    return sentences


def advice_on(delivery: Delivery) -> list[str]:
    """Say what to do about a delivery's last attempt."""
    status, error = delivery.last_status, delivery.last_error
    reason = REASONS.get(Failure(error)) if error else None
    is_right = status is not None and 200 <= status < 300
    return in_words(advice.on_request(Result(is_right, status, reason, 0)))


def in_words(sentences: list[str]) -> list[str]:
    return [gettext(sentence) for sentence in sentences]


def target_words(error: BadTarget) -> str:
    if "reason" in error.values:
        # The reason is a term of network engineers, in English.
        text = gettext("The address %(address)s is not public. Use a public host.")
        return text % {"address": error.values["address"]}
    return gettext(error.template).format(**error.values)


def moment_here(at: datetime | None) -> str:
    return moment_text(at, active_zone()) if at else ""


@cache
def samples() -> list[tuple[str, str]]:
    """Return the functions to copy, by language."""
    folder = settings.BASE_DIR / "clients"
    return [(name, (folder / file).read_text(encoding="utf-8")) for name, file in SAMPLES.items()]
