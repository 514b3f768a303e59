"""Pages of the second factor: the step at the login, and switching it on and off."""

from typing import Any

import segno
from django import forms
from django.contrib import messages
from django.contrib.auth import authenticate
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters
from unfold.widgets import UnfoldAdminPasswordWidget

from desk.common.fields import text_field
from desk.common.pages import desk_page, draw
from desk.common.requests import StaffRequest
from desk.people import second_factor
from desk.people.gate import A_CODE, A_DEVICE, OWES
from tickets.models import Phone

# Session key of the device being set up, so that other sessions cannot see its secret.
SETUP = "second_factor_setup"


class CodeForm(forms.Form):
    code = text_field(
        gettext_lazy("Code"),
        40,
        required=True,
        attrs={"autocomplete": "one-time-code", "autofocus": True},
    )


class PasswordForm(forms.Form):
    password = forms.CharField(
        label=gettext_lazy("Password"),
        widget=UnfoldAdminPasswordWidget(attrs={"autocomplete": "current-password"}),
    )


# Passwords and codes must not appear in error reports.
@sensitive_post_parameters()
@desk_page()
def code_page(request: StaffRequest) -> HttpResponse:
    """Ask for the code, the second step of a login; other pages redirect here until it is done."""
    if request.session.get(OWES) != A_CODE:
        return redirect("admin:index")
    if not second_factor.is_on(request.user):
        # The device was removed meanwhile, as for a lost phone.
        del request.session[OWES]
        return redirect("admin:index")
    form = CodeForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            second_factor.check_code(request.user, form.cleaned_data["code"])
        except second_factor.Refused as error:
            form.add_error("code", str(error))
        else:
            request.session.cycle_key()
            del request.session[OWES]
            return redirect("admin:index")
    return second_factor_page(request, "code", gettext("Enter your code"), form=form)


@sensitive_post_parameters()
@desk_page()
def account_page(request: StaffRequest) -> HttpResponse:
    """Begin, confirm or switch off the second factor; beginning and ending need the password."""
    if second_factor.is_on(request.user):
        return switch_off_page(request)
    device = second_factor.pending_device(request.user, request.session.get(SETUP))
    if device is None or "begin" in request.POST:
        return begin_page(request)
    return confirm_page(request, device)


def begin_page(request: StaffRequest) -> HttpResponse:
    # A code sent after the setup expired must not show "password required".
    form = PasswordForm(request.POST if "begin" in request.POST else None)
    if password_is_right(request, form):
        request.session[SETUP] = second_factor.begin_setup(request.user).pk
        return redirect("second_factor_device")
    required = request.session.get(OWES) == A_DEVICE
    lapsed = request.method == "POST" and not form.is_bound
    title = gettext("Set up a second factor")
    return second_factor_page(request, "begin", title, form=form, required=required, lapsed=lapsed)


def confirm_page(request: StaffRequest, device: Phone) -> HttpResponse:
    form = CodeForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            codes = second_factor.confirm_setup(
                request.user,
                device.pk,
                form.cleaned_data["code"],
                session_key=request.session.session_key,
            )
        except second_factor.Refused as error:
            form.add_error("code", str(error))
        else:
            request.session.pop(OWES, None)
            del request.session[SETUP]
            title = gettext("The second factor is on")
            return second_factor_page(request, "codes", title, codes=codes)
    picture = segno.make(device.config_url, micro=False).svg_data_uri(scale=5, border=2)
    return second_factor_page(
        request,
        "device",
        gettext("Set up a second factor"),
        form=form,
        picture=picture,
        key=device.config_url.partition("secret=")[2].partition("&")[0],
        required=request.session.get(OWES) == A_DEVICE,
        minutes=second_factor.SETUP_LASTS.seconds // 60,
    )


def switch_off_page(request: StaffRequest) -> HttpResponse:
    form = PasswordForm(request.POST or None)
    if password_is_right(request, form):
        second_factor.remove_devices(request.user)
        messages.success(request, gettext("The second factor is off."))
        return redirect("admin:index")
    return second_factor_page(request, "off", gettext("The second factor is on"), form=form)


def password_is_right(request: StaffRequest, form: PasswordForm) -> bool:
    """Check the password in the form; a wrong one adds an error to it."""
    if not form.is_valid():
        return False
    # Unlike check_password, authenticate counts wrong passwords, as at the login.
    if authenticate(request, username=request.user.get_username(), **form.cleaned_data):
        return True
    form.add_error("password", gettext("The password is incorrect."))
    return False


def second_factor_page(
    request: StaffRequest, name: str, title: str, **context: Any
) -> HttpResponse:
    if name == "code":
        context |= {"sidebar_navigation": [], "available_apps": [], "is_nav_sidebar_enabled": False}
    return draw(request, f"admin/second_factor/{name}.html", title, **context)
