"""Forms of operators who hold a host or drain all sending."""

from django import forms
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import UnfoldAdminTextareaWidget

from deliveries.engine import holding
from desk.common.fields import number_field, text_field

LONGEST = 200


class DrainForm(forms.Form):
    reason = text_field(
        gettext_lazy("Reason"), LONGEST, gettext_lazy("For operators who wonder later.")
    )


class ReleaseForm(forms.Form):
    host = forms.CharField(max_length=300, widget=forms.HiddenInput)


class HoldForm(forms.Form):
    host = text_field(
        gettext_lazy("Host"),
        300,
        gettext_lazy("As in the URL of a webhook, such as hooks.example.com."),
        required=True,
    )
    hours = number_field(
        gettext_lazy("Hours"),
        gettext_lazy("For so long; empty: until it is released."),
        most=holding.MOST_HOURS,
        attrs={"inputmode": "numeric"},
    )
    reason = text_field(
        gettext_lazy("Reason"), LONGEST, gettext_lazy("For operators. Companies never see it.")
    )
    public_reason = forms.CharField(
        max_length=LONGEST,
        required=False,
        label=gettext_lazy("Reason that companies read"),
        help_text=gettext_lazy("Empty: they see that it is held, and no reason."),
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 2}),
    )

    def clean_host(self) -> str:
        try:
            return holding.parse_host(self.cleaned_data["host"])
        except holding.InvalidHost:
            text = gettext("Give a name such as hooks.example.com, or an address, and no more.")
            raise forms.ValidationError(text) from None
