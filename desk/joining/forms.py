"""One agent, as a lead enters them."""

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy
from unfold.widgets import (
    UnfoldAdminEmailInputWidget,
    UnfoldAdminFileFieldWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
)

from desk.joining.agent_rows import COLUMNS, AgentRow
from tickets.models import TicketType

# The fields of the form by the columns of the file: one of them is one row.
FIELD_OF = {column: column.replace("-", "").replace(" ", "_") for column in COLUMNS}


class AgentForm(forms.Form):
    """Only reads: whatever is wrong is said by what adds agents."""

    login = forms.CharField(
        label=gettext_lazy("Login"), max_length=150, widget=UnfoldAdminTextInputWidget
    )
    email = forms.CharField(
        label=gettext_lazy("E-mail"), max_length=254, widget=UnfoldAdminEmailInputWidget
    )
    first_name = forms.CharField(
        label=gettext_lazy("First name"),
        required=False,
        max_length=150,
        widget=UnfoldAdminTextInputWidget,
    )
    last_name = forms.CharField(
        label=gettext_lazy("Last name"),
        required=False,
        max_length=150,
        widget=UnfoldAdminTextInputWidget,
    )
    group = forms.ChoiceField(
        label=gettext_lazy("Group"),
        choices=[("agent", gettext_lazy("Agent")), ("lead", gettext_lazy("Lead"))],
        widget=UnfoldAdminSelectWidget,
    )
    zone = forms.CharField(
        label=gettext_lazy("Time zone"),
        required=False,
        max_length=50,
        help_text=gettext_lazy("For example America/Mexico_City."),
        widget=UnfoldAdminTextInputWidget(attrs={"list": "zones", "autocomplete": "off"}),
    )
    language = forms.ChoiceField(
        label=gettext_lazy("Language"),
        required=False,
        choices=[("", gettext_lazy("as the deployment")), *settings.LANGUAGES],
        widget=UnfoldAdminSelectWidget,
    )
    types = forms.CharField(
        label=gettext_lazy("Ticket types"),
        required=False,
        max_length=200,
        help_text=gettext_lazy("IDs with spaces between, such as 3 5. Empty means all."),
        widget=UnfoldAdminTextInputWidget,
    )
    capacity = forms.CharField(
        label=gettext_lazy("Capacity"),
        required=False,
        max_length=9,
        help_text=gettext_lazy("Active tickets at a time. Empty means 50."),
        widget=UnfoldAdminIntegerFieldWidget,
    )

    def as_row(self) -> AgentRow:
        """Once it is valid."""
        written = {column: self.cleaned_data[field] for column, field in FIELD_OF.items()}
        return AgentRow(1, written)


class AgentFileForm(forms.Form):
    file = forms.FileField(
        label=gettext_lazy("CSV file"),
        widget=UnfoldAdminFileFieldWidget(attrs={"accept": ".csv,text/csv"}),
    )


def type_names() -> list[tuple[int, str]]:
    """What the IDs of ticket types mean, for whoever fills in the form or the file."""
    return [(one.pk, str(one)) for one in TicketType.objects.offered()]
