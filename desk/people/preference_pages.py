"""Page on which users choose their language and time zone."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import translation
from django.utils.translation import gettext, gettext_lazy
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from core.values.zones import known_zones
from desk.common.generics import ModelForm
from desk.common.pages import desk_page, draw
from desk.common.requests import StaffRequest
from desk.models import Preferences
from desk.people.language import reading_of, save_preferences


class PreferencesForm(ModelForm[Preferences]):
    class Meta:
        model = Preferences
        fields = ("language", "time_zone")
        labels = {
            "language": gettext_lazy("Language"),
            "time_zone": gettext_lazy("Time zone"),
        }
        help_texts = {
            "time_zone": gettext_lazy("For example America/Mexico_City."),
        }
        widgets = {
            "language": UnfoldAdminSelectWidget,
            "time_zone": UnfoldAdminTextInputWidget(
                attrs={"list": "zones", "autocomplete": "off", "spellcheck": "false"}
            ),
        }


@desk_page()
def preferences_page(request: StaffRequest) -> HttpResponse:
    """Show the preferences, or save them on POST; unknown time zones are refused."""
    saved = Preferences.objects.filter(user=request.user).first()
    form = PreferencesForm(request.POST or None, instance=saved or Preferences(user=request.user))
    languages = dict(settings.LANGUAGES)
    form.fields["language"].widget.choices = [
        ("", gettext("As the deployment: %(name)s") % {"name": languages[settings.DESK_LANGUAGE]}),
        *settings.LANGUAGES,
    ]
    if request.method == "POST" and form.is_valid():
        save_preferences(form.save(commit=False))
        with translation.override(reading_of(request.user).language):
            messages.success(request, gettext("Saved."))
        return redirect("desk_preferences")
    return draw(
        request,
        "admin/preferences.html",
        gettext("Language and time zone"),
        status=400 if form.errors else 200,
        form=form,
        zones=known_zones(),
        deployment_zone=settings.DESK_TIME_ZONE,
    )
