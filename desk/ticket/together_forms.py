"""Forms with which agents hand over and link tickets."""

from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from core.values.ids import read_id
from desk.common.forms import LONGEST_TEXT, PageTokenField
from portal.forms import TextField
from tickets.changes import mentions
from tickets.models import Agent


class ColleagueField(forms.CharField):
    """An agent, by user name or by a name that a mention accepts."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=mentions.LONGEST_NAME, **options)

    def clean(self, value: Any) -> Any:
        name = super().clean(value).removeprefix("@")
        # A full name also finds a former agent, so that the refusal can say that they left.
        agents = Agent.objects.select_related("user")
        if exact := agents.filter(user__username=name).first():
            return exact
        matches = mentions.match_name(name, mentions.colleagues())
        if len(matches) == 1:
            return agents.get(pk=matches[0].agent_id)
        if not matches:
            raise forms.ValidationError(
                gettext("There is no agent named %(name)s.") % {"name": name}, code="unknown"
            )
        names = ", ".join(match.username for match in matches[: mentions.MOST_NAMES])
        raise forms.ValidationError(
            gettext("Several agents are named %(name)s: %(names)s. Enter the full user name.")
            % {"name": name, "names": names},
            code="several",
        )


class HandOverForm(forms.Form):
    """The colleague who gets the ticket, and a note for them."""

    to = ColleagueField(error_messages={"required": _("Enter the name of a colleague.")})
    note = TextField(required=False, max_length=LONGEST_TEXT)
    seen = PageTokenField()
    # The agent hands over in spite of the concerns.
    confirmed = forms.BooleanField(required=False)


class RelateForm(forms.Form):
    """Another ticket, by its number, with or without "#"."""

    other = forms.CharField(
        max_length=20, error_messages={"required": _("Enter the number of a ticket.")}
    )
    # Removes the link.
    remove = forms.BooleanField(required=False)

    def clean_other(self) -> int:
        text: str = self.cleaned_data["other"].strip().removeprefix("#")
        if (number := read_id(text)) is None:
            raise forms.ValidationError(_("Enter the number of a ticket."), code="invalid")
        return number
