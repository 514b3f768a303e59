"""Page that sets a new password through a mailed link."""

from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.contrib.auth.views import PasswordResetConfirmView
from django.http import HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse_lazy
from django.utils import translation
from django.utils.translation import gettext

from desk.common.forms import NewPasswordForm
from desk.common.generics import SetPasswordForm
from desk.people.language import reading_of
from desk.people.mailed_links import LinkOver


class PasswordByLinkPage(PasswordResetConfirmView):
    """Form for a new password, in the user's language.

    Django checks the token and redirects, so that the token leaves the URL and no referrer has it.
    """

    form_class = NewPasswordForm
    success_url = reverse_lazy("admin:login")

    def set_password(self, user: User, password: str) -> None:
        """Set the new password; raises LinkOver if the link was used or has expired."""
        raise NotImplementedError

    def dispatch(self, *args: Any, **kwargs: Any) -> Any:
        user = self.get_user(kwargs["uidb64"])
        language = reading_of(user).language if user else translation.get_language()
        with translation.override(language):
            response = super().dispatch(*args, **kwargs)
            return response.render() if isinstance(response, TemplateResponse) else response

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context = super().get_context_data(**kwargs)
        return {**admin.site.each_context(self.request), **context, "title": self.title}

    def form_valid(self, form: SetPasswordForm[User]) -> HttpResponseRedirect:
        try:
            self.set_password(form.user, form.cleaned_data["new_password1"])
        except LinkOver as over:
            messages.error(self.request, str(over))
        else:
            # The message appears on the login page, which uses the deployment's language.
            with translation.override(settings.DESK_LANGUAGE):
                text = gettext("Your password is set. Sign in as %(name)s.")
            messages.success(self.request, text % {"name": form.user.get_username()})
        return HttpResponseRedirect(self.get_success_url())
