"""The pages of a forgotten password: one asks for a link, the other takes the new password."""

from functools import partial
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth import logout
from django.contrib.auth.models import User
from django.contrib.auth.views import INTERNAL_RESET_SESSION_TOKEN, PasswordResetConfirmView
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse, reverse_lazy
from django.utils import translation
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.cache import never_cache
from unfold.widgets import UnfoldAdminTextInputWidget

from core.values.times import whole_seconds
from desk.common.forms import NewPasswordForm
from desk.common.generics import SetPasswordForm
from desk.people import resets
from desk.people.known_devices import known_device
from desk.people.language import reading_of
from desk.people.signing_in import client_address


class ResetForm(forms.Form):
    name = forms.CharField(
        label=gettext_lazy("E-mail or user name"),
        max_length=254,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "username", "autofocus": True}),
    )


@never_cache
def ask_reset_page(request: HttpRequest) -> HttpResponse:
    """GET asks for whom; POST has a link sent. The answer is the same whether there is somebody."""
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
    context = {
        **admin.site.each_context(request),
        "title": gettext("New password"),
        "form": form,
        "offered": offered,
        "sent": "sent" in request.GET and not form.is_bound,
        "minutes": resets.VALID_FOR.seconds // 60,
    }
    response = TemplateResponse(request, "admin/resets/ask.html", context, status=status)
    if status == 429:
        response["Retry-After"] = str(whole_seconds(resets.WITHIN))
    return response


class NewPasswordPage(PasswordResetConfirmView):
    """Takes the new password, in the user's language. Django takes care of the link: it leaves the
    address at once, so that nothing sends it on.
    """

    token_generator = resets.reset_tokens
    form_class = NewPasswordForm
    template_name = "admin/resets/new_password.html"
    success_url = reverse_lazy("admin:login")

    def dispatch(self, *args: Any, **kwargs: Any) -> Any:
        user = self.get_user(kwargs["uidb64"])
        language = reading_of(user).language if user else translation.get_language()
        with translation.override(language):
            response = super().dispatch(*args, **kwargs)
            return response.render() if isinstance(response, TemplateResponse) else response

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context = super().get_context_data(**kwargs)
        context["title"] = gettext("New password")
        return {**admin.site.each_context(self.request), **context}

    def form_valid(self, form: SetPasswordForm[User]) -> HttpResponseRedirect:
        token = self.request.session.pop(INTERNAL_RESET_SESSION_TOKEN)
        # Whoever is signed in here may be about to end the session that this is.
        logout(self.request)
        try:
            resets.set_by_link(form.user, token, form.cleaned_data["new_password1"])
        except resets.ResetOver as over:
            messages.error(self.request, str(over))
        else:
            # Read on the page to sign in, which is in the language of the deployment.
            with translation.override(settings.DESK_LANGUAGE):
                text = gettext("Your password is set. Sign in as %(name)s.")
            messages.success(self.request, text % {"name": form.user.get_username()})
        return HttpResponseRedirect(reverse("admin:login"))
