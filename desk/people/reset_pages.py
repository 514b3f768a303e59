"""Pages of a password reset: one requests the link, the other sets the password."""

from functools import partial

from django import forms
from django.contrib.auth import logout
from django.contrib.auth.models import User
from django.contrib.auth.views import INTERNAL_RESET_SESSION_TOKEN
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.cache import never_cache

from core.values.times import whole_seconds
from desk.common.fields import text_field
from desk.common.pages import draw
from desk.people import resets
from desk.people.known_devices import known_device
from desk.people.password_pages import PasswordByLinkPage
from desk.people.signing_in import client_address


class ResetForm(forms.Form):
    name = text_field(
        gettext_lazy("E-mail or user name"),
        254,
        required=True,
        attrs={"autocomplete": "username", "autofocus": True},
    )


@never_cache
def ask_reset_page(request: HttpRequest) -> HttpResponse:
    """Show the form, or mail a link on POST; the response does not reveal whether a user exists."""
    offered, status = resets.are_offered(), 200
    form = ResetForm(request.POST or None)
    if request.method == "POST" and offered and form.is_valid():
        try:
            resets.ask_reset(
                form.cleaned_data["name"],
                address=client_address(request),
                device_of=partial(known_device, request),
                url=request.build_absolute_uri("/"),
            )
            return redirect(f"{reverse('admin_password_reset')}?sent=1")
        except resets.TooManyResets:
            text = gettext(
                "Too many requests. Look for the emails that were sent, or wait an hour."
            )
            form.add_error("name", text)
            status = 429
    response = draw(
        request,
        "admin/resets/ask.html",
        gettext("New password"),
        status=status,
        form=form,
        offered=offered,
        sent="sent" in request.GET and not form.is_bound,
        minutes=resets.VALID_FOR.seconds // 60,
    )
    if status == 429:
        response["Retry-After"] = str(whole_seconds(resets.WITHIN))
    return response


class NewPasswordPage(PasswordByLinkPage):
    token_generator = resets.reset_tokens
    template_name = "admin/resets/new_password.html"
    title = gettext_lazy("New password")

    def set_password(self, user: User, password: str) -> None:
        token = self.request.session.pop(INTERNAL_RESET_SESSION_TOKEN)
        # The reset ends all sessions of the user, possibly including the current one.
        logout(self.request)
        resets.set_by_link(user, token, password)
