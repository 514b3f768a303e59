"""Forms with which leads add agents."""

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy
from unfold.widgets import (
    UnfoldAdminEmailInputWidget,
    UnfoldAdminFileFieldWidget,
    UnfoldAdminIntegerFieldWidget,
)

from desk.common.fields import choice_field, text_field
from desk.joining.agent_rows import COLUMNS, AgentRow
from tickets.models import TicketType

# Form field for each column of the file, since a form is handled as a file of one row.
FIELD_OF = {column: column.replace("-", "").replace(" ", "_") for column in COLUMNS}


class AgentForm(forms.Form):
    """Form for one agent; `add_agents` validates it."""

    login = text_field(gettext_lazy("Login"), 150, required=True)
    email = forms.CharField(
        label=gettext_lazy("E-mail"), max_length=254, widget=UnfoldAdminEmailInputWidget
    )
    first_name = text_field(gettext_lazy("First name"), 150)
    last_name = text_field(gettext_lazy("Last name"), 150)
    group = choice_field(
        gettext_lazy("Group"), [("agent", gettext_lazy("Agent")), ("lead", gettext_lazy("Lead"))]
    )
    zone = text_field(
        gettext_lazy("Time zone"),
        50,
        gettext_lazy("For example America/Mexico_City."),
        attrs={"list": "zones", "autocomplete": "off"},
    )
    language = choice_field(
        gettext_lazy("Language"),
        [("", gettext_lazy("as the deployment")), *settings.LANGUAGES],
        required=False,
    )
    types = text_field(
        gettext_lazy("Ticket types"),
        200,
        gettext_lazy("IDs with spaces between, such as 3 5. Empty means all."),
    )
    capacity = forms.CharField(
        label=gettext_lazy("Capacity"),
        required=False,
        max_length=9,
        help_text=gettext_lazy("Active tickets at a time. Empty means 50."),
        widget=UnfoldAdminIntegerFieldWidget,
    )

    def as_row(self) -> AgentRow:
        """Return the values of a valid form as a row."""
        values = {column: self.cleaned_data[field] for column, field in FIELD_OF.items()}
        return AgentRow(1, values)


class AgentFileForm(forms.Form):
    file = forms.FileField(
        label=gettext_lazy("CSV file"),
        widget=UnfoldAdminFileFieldWidget(attrs={"accept": ".csv,text/csv"}),
    )


def type_names() -> list[tuple[int, str]]:
    """Return (id, name) of ticket types, as help for the form and the file."""
    return [(one.pk, str(one)) for one in TicketType.objects.offered()]
