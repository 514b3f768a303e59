"""The steps of the first run: which there are, and which are settled."""

from typing import NamedTuple

from django.contrib.auth.models import User
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from desk.models import Macro, SettledStep
from tickets.models import Agent, FilingRule

# What a lead has, and an agent has not.
LEADS = ("tickets.change_calendar", "tickets.add_filingrule", "desk.add_macro")
HIDDEN = "hidden"
STEPS: dict[str, str | Promise] = {
    "language": gettext_lazy("Language and time zone"),
    "hours": gettext_lazy("Working hours"),
    "filing": gettext_lazy("Filing days of carriers"),
    "reasons": gettext_lazy("Reason codes"),
    "macros": gettext_lazy("Macros"),
    "agents": gettext_lazy("Agents"),
}


class Step(NamedTuple):
    slug: str
    title: str | Promise
    settled: bool


def may_set_up(user: User) -> bool:
    return user.has_perms(LEADS)


def steps_now() -> list[Step]:
    """Settled by a lead's word, or by what there is."""
    settled = settled_slugs()
    return [Step(slug, title, slug in settled) for slug, title in STEPS.items()]


def settled_slugs() -> set[str]:
    settled = set(SettledStep.objects.values_list("slug", flat=True))
    if "filing" not in settled and FilingRule.objects.exists():
        settled.add("filing")
    if "macros" not in settled and Macro.objects.filter(active=True).exists():
        settled.add("macros")
    if "agents" not in settled and len(Agent.objects.values_list("pk")[:2]) == 2:
        settled.add("agents")
    return settled


def checklist_of(user: User) -> list[Step]:
    """What the home page lists for a lead; nothing once all is settled or it was hidden."""
    if not may_set_up(user) or is_hidden():
        return []
    steps = steps_now()
    return [] if all(step.settled for step in steps) else steps


def is_hidden() -> bool:
    return SettledStep.objects.filter(slug=HIDDEN).exists()


def settle_step(slug: str, by: User) -> None:
    SettledStep.objects.get_or_create(slug=slug, defaults={"settled_by": by.get_username()})


def show_again() -> None:
    SettledStep.objects.filter(slug=HIDDEN).delete()
