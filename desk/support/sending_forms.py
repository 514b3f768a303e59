"""What is asked of whoever stops sending."""

from django import forms
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from deliveries.engine import holding

LONGEST = 200


class DrainForm(forms.Form):
    reason = forms.CharField(
        max_length=LONGEST,
        required=False,
        label=gettext_lazy("Reason"),
        help_text=gettext_lazy("For operators who wonder later."),
        widget=UnfoldAdminTextInputWidget,
    )


class ReleaseForm(forms.Form):
    host = forms.CharField(max_length=300, widget=forms.HiddenInput)


class HoldForm(forms.Form):
    host = forms.CharField(
        max_length=300,
        label=gettext_lazy("Host"),
        help_text=gettext_lazy("As in the URL of a webhook, such as hooks.example.com."),
        widget=UnfoldAdminTextInputWidget,
    )
    hours = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=holding.MOST_HOURS,
        label=gettext_lazy("Hours"),
        help_text=gettext_lazy("For so long; empty: until it is released."),
        widget=UnfoldAdminTextInputWidget(attrs={"inputmode": "numeric"}),
    )
    reason = forms.CharField(
        max_length=LONGEST,
        required=False,
        label=gettext_lazy("Reason"),
        help_text=gettext_lazy("For operators. Companies never see it."),
        widget=UnfoldAdminTextInputWidget,
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
            return holding.host_named(self.cleaned_data["host"])
        except holding.NoHost:
            text = gettext("Give a name such as hooks.example.com, or an address, and no more.")
            raise forms.ValidationError(text) from None
