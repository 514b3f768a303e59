"""To whom tickets are given."""

from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget

from tickets.models import Agent


class AgentChoice(forms.ModelChoiceField):
    """Everybody who could take a ticket by hand, with what they carry already."""

    def __init__(self, **options: Any) -> None:
        super().__init__(Agent.objects.none(), **options)

    def label_from_instance(self, agent: Agent) -> str:
        away = "" if agent.there else ", away"
        return f"{agent.user.get_username()}: {agent.load} of {agent.capacity}{away}"


class GiveForm(forms.Form):
    """To whom, and why. No agent chosen means: to whom the rule finds."""

    to = AgentChoice(
        required=False,
        label="Give to",
        empty_label="Whom the rule finds",
        widget=UnfoldAdminSelectWidget,
    )
    reason = forms.CharField(
        required=False,
        max_length=2000,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}),
        help_text="History keeps it, for agents only.",
    )

    def __init__(self, *args: Any, but: Agent | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        agents = Agent.objects.filter(user__is_active=True).exclude(pk=but and but.pk)
        self.fields["to"].queryset = (
            agents.with_loads().with_presence().select_related("user").order_by("user__username")
        )
