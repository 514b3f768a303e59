"""Forms in which agents write, move and assign tickets."""

from typing import Any, TypedDict, cast

from django import forms
from django.contrib.auth.models import User
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import (
    UnfoldAdminPasswordWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
)

from core.values.texts import is_blank
from desk.common.claim_forms import AmountsForm, DecisionForm
from desk.common.generics import ModelChoiceField, SetPasswordForm, WithAnnotations
from portal.forms import TextField
from tickets.changes.documents import BadDocumentName, clean_document_names
from tickets.changes.page_tokens import PageToken, require_page_token
from tickets.changes.writes import StaleTicket
from tickets.models import Agent
from tickets.statuses import Status

LONGEST_TEXT = 20_000


def document_names(lines: str) -> list[str]:
    """Split text into names, one per line, without empty lines."""
    return [line.strip() for line in lines.splitlines() if line.strip()]


class DocumentNames(forms.Field):
    """Names of documents, from ticked boxes."""

    widget = forms.MultipleHiddenInput

    def clean(self, value: Any) -> list[str]:
        return check_names(value or [])


def check_names(names: list[str]) -> list[str]:
    try:
        return clean_document_names(names)
    except BadDocumentName as error:
        raise forms.ValidationError(str(error)) from error


class PageTokenField(forms.Field):
    """Token of the page (what it showed of its ticket), without which a form is refused.

    Why: decision N18.
    """

    widget = forms.HiddenInput

    def clean(self, value: Any) -> PageToken:
        try:
            return require_page_token(PageToken.read(value or ""))
        except StaleTicket as error:
            raise forms.ValidationError(str(error)) from error


class RequestForm(forms.Form):
    """Documents to request: ticked boxes, and others by name, one per line."""

    requested = DocumentNames(required=False)
    others = forms.CharField(
        required=False,
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    # Id of the form as it was drawn: submitted twice, it counts once.
    key = forms.UUIDField(required=False, widget=forms.HiddenInput)
    # Id of an answer that was taken back or held, and is being sent again.
    back = forms.UUIDField(required=False, widget=forms.HiddenInput)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        other_names = document_names(cleaned.get("others", ""))
        cleaned["requested"] = check_names(cleaned.get("requested", []) + other_names)
        return cleaned


class MoveForm(DecisionForm, RequestForm):
    """Reason of a move; the service decides whether one is required."""

    reason = TextField(
        required=False,
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"rows": 6, "autofocus": True}),
    )


class AppealForm(forms.Form):
    """Decision of a lead on an appeal, and its reason."""

    decision = forms.ChoiceField(choices=[("accept", "accept"), ("refuse", "refuse")])
    reason = TextField(required=False, max_length=LONGEST_TEXT)
    seen = PageTokenField()
    back = forms.UUIDField(required=False, widget=forms.HiddenInput)
    # Confirmation by the only lead, who had also declined the ticket.
    alone = forms.BooleanField(required=False, widget=forms.HiddenInput)


class WriteForm(DecisionForm, RequestForm):
    """Reply to the company or internal note, with an optional move."""

    text = TextField(
        required=False, max_length=LONGEST_TEXT, widget=forms.Textarea(attrs={"rows": 5})
    )
    to = forms.TypedChoiceField(
        required=False,
        coerce=lambda value: Status(int(value)),
        empty_value=None,
        choices=[("", "")] + [(status.value, status.label) for status in Status],
    )
    seen = PageTokenField()
    # Confirmation that the same text is to be sent once more.
    again = forms.BooleanField(required=False, widget=forms.HiddenInput)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        if (
            is_blank(cleaned.get("text", ""))
            and not cleaned.get("to")
            and not cleaned.get("requested")
            and not self.files
            and "text" not in self.errors
        ):
            self.add_error("text", gettext("Write something."))
        return cleaned


class Workload(TypedDict):
    """Annotations that `with_loads()` and `with_presence()` add to agents."""

    load: int
    there: bool


class AgentChoice(ModelChoiceField[Agent]):
    """Choice of an agent, labelled with their load and capacity."""

    def __init__(self, **options: Any) -> None:
        super().__init__(Agent.objects.none(), **options)

    def label_from_instance(self, obj: Agent) -> str:
        agent = cast(WithAnnotations[Agent, Workload], obj)
        text = gettext("%(agent)s: %(load)d of %(capacity)d")
        if not agent.there:
            text = gettext("%(agent)s: %(load)d of %(capacity)d, away")
        load, capacity = agent.load, agent.capacity
        return text % {"agent": agent.user.get_username(), "load": load, "capacity": capacity}


class AssignForm(forms.Form):
    """Assignment of a ticket, and its reason; no agent means automatic assignment."""

    to = AgentChoice(
        required=False,
        label=gettext_lazy("Assign to"),
        empty_label=gettext_lazy("Assign automatically (least busy)"),
        widget=UnfoldAdminSelectWidget,
    )
    reason = TextField(
        required=False,
        label=gettext_lazy("Reason"),
        max_length=2000,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}),
        help_text=gettext_lazy("Shown in the history, to agents only."),
    )

    def __init__(self, *args: Any, excluding: Agent | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        agents = Agent.objects.filter(user__is_active=True).by_name()
        if excluding is not None:
            agents = agents.exclude(pk=excluding.pk)
        field = cast(AgentChoice, self.fields["to"])
        field.queryset = agents.with_loads().with_presence().select_related("user")


class PageAmountsForm(AmountsForm):
    """Amounts as a form of their own, with the token of the page."""

    seen = PageTokenField()


class NewPasswordForm(SetPasswordForm[User]):
    """Django's SetPasswordForm with the desk's widgets."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.widget = UnfoldAdminPasswordWidget(attrs={"autocomplete": "new-password"})
