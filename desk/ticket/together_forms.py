"""What agents type to work together."""

from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from core.values.ids import read_id
from desk.common.forms import LONGEST_TEXT, SeenField, TextField
from tickets.changes import mentions
from tickets.models import Agent


class ColleagueField(forms.CharField):
    """An agent, by user name or as a note would call them."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=mentions.LONGEST_NAME, **options)

    def clean(self, value: Any) -> Any:
        name = super().clean(value).removeprefix("@")
        # Somebody who has left is found by the whole name, to be told so.
        agents = Agent.objects.select_related("user")
        if exact := agents.filter(user__username=name).first():
            return exact
        meant = mentions.called(name, mentions.colleagues())
        if len(meant) == 1:
            return agents.get(pk=meant[0].agent_id)
        if not meant:
            raise forms.ValidationError(
                gettext("There is no agent named %(name)s.") % {"name": name}, code="unknown"
            )
        names = ", ".join(one.username for one in meant[: mentions.MOST_NAMES])
        raise forms.ValidationError(
            gettext("Several agents are named %(name)s: %(names)s. Enter the full user name.")
            % {"name": name, "names": names},
            code="several",
        )


class HandOverForm(forms.Form):
    """To which colleague, and what they should know."""

    to = ColleagueField(error_messages={"required": _("Enter the name of a colleague.")})
    note = TextField(required=False, max_length=LONGEST_TEXT)
    seen = SeenField()
    # The warnings have been read.
    confirmed = forms.BooleanField(required=False)


class RelateForm(forms.Form):
    """Another ticket, by its number, also as the desk writes it: #12."""

    other = forms.CharField(
        max_length=20, error_messages={"required": _("Enter the number of a ticket.")}
    )
    # Takes the link back.
    remove = forms.BooleanField(required=False)

    def clean_other(self) -> int:
        text: str = self.cleaned_data["other"].strip().removeprefix("#")
        if (number := read_id(text)) is None:
            raise forms.ValidationError(_("Enter the number of a ticket."), code="invalid")
        return number
