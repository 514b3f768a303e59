"""Admin pages of users, groups and sign-ins; nobody can grant more than they have."""

from typing import TYPE_CHECKING, Any

# Importing these modules registers the admin pages that are unregistered below.
import django_otp.plugins.otp_static.admin
import django_otp.plugins.otp_totp.admin  # noqa: F401 - see above
from axes.models import AccessAttempt, AccessLog
from django.contrib import admin, messages
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied
from django.db.models import ManyToManyField, QuerySet
from django.forms import ModelForm, ModelMultipleChoiceField
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext, gettext_lazy, ngettext
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from core.data.reading_order import ReadingOrder
from core.jobs.failing_rows import try_each
from desk.common import sessions
from desk.common.admin_base import ModelAdmin, NeverDeleted, ReadOnlyAdmin
from desk.common.controls import foreign_column
from desk.common.requests import StaffRequest, staff
from desk.common.times import local_text
from desk.people import second_factor
from desk.people.agent_pages import explain_reassignment
from tickets.agents import wake_assignment
from tickets.models import Agent

if TYPE_CHECKING:
    BaseUserAdmin = DjangoUserAdmin[User]
else:
    BaseUserAdmin = DjangoUserAdmin

# django-otp's pages show the secrets of devices; users and groups get our own pages below.
admin.site.unregister([User, Group, TOTPDevice, StaticDevice])


def may_manage(actor: User, user: User) -> bool:
    """Tell whether the actor has every permission of the user, and so may set their password."""
    if actor.is_superuser:
        return True
    return not user.is_superuser and permissions_of(user) <= actor.get_all_permissions()


def permissions_of(user: User) -> set[str]:
    """Return the permissions of a user as if active: inactive users may be reactivated."""
    own = user.user_permissions.values_list("content_type__app_label", "codename")
    groups = Group.objects.filter(user=user)
    by_groups = groups.values_list("permissions__content_type__app_label", "permissions__codename")
    return {f"{app}.{name}" for app, name in [*own, *by_groups] if name}


def grantable(actor: User) -> QuerySet[Group]:
    """Return the groups whose permissions the actor has, all of them."""
    if actor.is_superuser:
        return Group.objects.all()
    own_permissions = actor.get_all_permissions()
    fitting = [
        group.pk
        for group in Group.objects.prefetch_related("permissions__content_type")
        if {f"{one.content_type.app_label}.{one.codename}" for one in group.permissions.all()}
        <= own_permissions
    ]
    return Group.objects.filter(pk__in=fitting)


@admin.register(User)
# History refers to users, so they are deactivated and never deleted.
class UserAdmin(NeverDeleted, BaseUserAdmin, ModelAdmin):
    """Admin page of users. Users with more permissions than the actor can only be (de)activated.

    Only superusers change superusers.
    """

    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    list_display = ("username", "email", "is_staff", "is_active", "is_superuser", "last_login")
    ordering = (ReadingOrder("username"),)
    list_filter = ("is_staff", "is_active", "groups")
    search_fields = ("username__istartswith", "email__istartswith")
    filter_horizontal = ()
    fieldsets = (
        (None, {"fields": ("username", "password", "email", "first_name", "last_name")}),
        (
            gettext_lazy("Permissions"),
            {"fields": ("is_active", "is_staff", "is_superuser", "groups")},
        ),
        (gettext_lazy("Important dates"), {"fields": ("last_login", "date_joined")}),
    )
    add_fieldsets = ((None, {"fields": ("username", "password1", "password2", "email")}),)
    actions = ("remove_second_factor",)
    change_form_outer_before_template = "admin/auth/user/before.html"

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> list[str]:
        fixed = ["last_login", "date_joined"]
        if request.user.is_superuser:
            return fixed
        fixed.append("is_superuser")
        if obj is not None and not may_manage(staff(request), obj):
            fixed += ["username", "email", "first_name", "last_name", "is_staff", "groups"]
        return fixed

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        allowed = super().has_change_permission(request, obj)
        return allowed and (obj is None or request.user.is_superuser or not obj.is_superuser)

    def formfield_for_manytomany(
        self, db_field: "ManyToManyField[Any, Any]", request: HttpRequest, **kwargs: Any
    ) -> "ModelMultipleChoiceField[Any] | None":
        if db_field.name == "groups":
            kwargs["queryset"] = grantable(staff(request))
        return super().formfield_for_manytomany(db_field, request, **kwargs)

    def save_model(
        self, request: HttpRequest, obj: User, form: "ModelForm[User]", change: bool
    ) -> None:
        if not change:
            obj.is_staff = True
        super().save_model(request, obj, form, change)
        if change and "is_active" in form.changed_data:
            # Reassign tickets of users who left, and assign waiting ones to users who returned.
            wake_assignment()
            if not obj.is_active:
                # A reactivated user must sign in again.
                sessions.end_others(obj, None)
            for agent in Agent.objects.filter(user=obj, user__is_active=False):
                explain_reassignment(request, agent)

    def user_change_password(
        self, request: HttpRequest, id: str, form_url: str = ""
    ) -> HttpResponse:
        # Setting a password allows signing in as that user.
        user = self.get_object(request, id)
        if user is not None and not may_manage(staff(request), user):
            raise PermissionDenied
        return super().user_change_password(request, id, form_url)

    @admin.action(
        description=gettext_lazy("Remove the second factor (lost phone)"), permissions=["change"]
    )
    def remove_second_factor(self, request: StaffRequest, queryset: QuerySet[User]) -> None:
        chosen = [user for user in queryset if may_manage(request.user, user)]
        removed: list[int] = []

        def remove(user: User) -> None:
            count = second_factor.remove_devices(user)
            self.log_change(request, user, gettext("Removed the second factor."))
            removed.append(count)

        outcome = try_each(chosen, remove)
        text = ngettext(
            "%(count)d second factor removed.", "%(count)d second factors removed.", sum(removed)
        )
        messages.success(request, text % {"count": sum(removed)})
        for user, why in outcome.refused.items():
            text = gettext("%(name)s failed: %(why)s")
            messages.error(request, text % {"name": user, "why": why})


@admin.register(Group)
class GroupAdmin(DjangoGroupAdmin, ModelAdmin):
    """Admin page of groups, for superusers only: others could extend their own permissions."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.is_superuser

    def has_change_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return request.user.is_superuser

    def has_delete_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return request.user.is_superuser


def access_title(row: AccessAttempt | AccessLog) -> str:
    """Return the name of a row, which django-axes has in English only."""
    return f"{row.username}, {local_text(row.attempt_time)}"


table: Any
for table in (AccessAttempt, AccessLog):
    table.__str__ = access_title


@admin.register(AccessAttempt)
class AccessAttemptAdmin(ReadOnlyAdmin):
    """Failed sign-ins that still count, without the text typed."""

    user_agent_text = foreign_column("user_agent")
    list_display = ("username", "ip_address", "failures_since_start", "attempt_time")
    search_fields = ("username", "ip_address")
    fields = readonly_fields = (*list_display, "user_agent_text")


@admin.register(AccessLog)
class AccessLogAdmin(ReadOnlyAdmin):
    user_agent_text = foreign_column("user_agent")
    list_display = ("username", "ip_address", "attempt_time", "logout_time")
    search_fields = ("username", "ip_address")
    fields = readonly_fields = (*list_display, "user_agent_text")
