"""The desk's pages that belong to no table; behind the admin's login but two ways to one."""

from django.contrib import admin
from django.urls import include, path

from desk.automations import pages as automation_pages
from desk.first_run import pages as first_run_pages
from desk.joining import pages as joining_pages
from desk.live import asking, notification_pages
from desk.palette import pages as palette_pages
from desk.people import (
    audit_pages,
    language,
    reset_pages,
    second_factor_pages,
    session_pages,
)
from desk.reports import dashboard, report_pages

guarded = admin.site.admin_view

urlpatterns = [
    path("palette/", guarded(palette_pages.palette_page), name="desk_palette"),
    path("automations/", guarded(automation_pages.automations_page), name="desk_automations"),
    path(
        "automations/<slug:kind>/<int:type_id>/",
        guarded(automation_pages.settings_page),
        name="desk_automation",
    ),
    path("figures/fairness/", guarded(dashboard.fairness_page), name="desk_fairness"),
    path("reports/", guarded(report_pages.report_page), name="desk_report"),
    path("reports/<slug:slug>.csv", guarded(report_pages.report_file), name="desk_report_file"),
    path("figures/<slug:slug>.csv", guarded(dashboard.export_table), name="desk_export"),
    path("audit/", guarded(audit_pages.audit_page), name="desk_audit"),
    path("audit.csv", guarded(audit_pages.audit_file), name="desk_audit_file"),
    path("preferences/", guarded(language.preferences_page), name="desk_preferences"),
    path("sessions/", guarded(session_pages.own_sessions_page), name="desk_sessions"),
    path(
        "sessions/<int:user_id>/",
        guarded(session_pages.user_sessions_page),
        name="desk_user_sessions",
    ),
    path("live/", asking.live_page, name="desk_live"),
    path("live/mine/", guarded(notification_pages.mine_page), name="desk_live_mine"),
    path("notifications/", guarded(notification_pages.list_page), name="desk_notifications"),
    path(
        "notifications/read/",
        guarded(notification_pages.read_page),
        name="desk_notifications_read",
    ),
    path("first-run/", guarded(first_run_pages.first_run_page), name="desk_first_run"),
    path("agents/add/", guarded(joining_pages.add_agents_page), name="desk_add_agents"),
    path(
        "agents/invitations/<int:user_id>/",
        guarded(joining_pages.invitation_change),
        name="desk_invitation_change",
    ),
    # For somebody who has no password yet.
    path(
        "invitation/<uidb64>/<token>/",
        joining_pages.InvitationPage.as_view(),
        name="desk_invitation",
    ),
    # For somebody who has forgotten theirs. Unfold's login page asks for the first by this name.
    path("password-reset/", reset_pages.ask_reset_page, name="admin_password_reset"),
    path(
        "password-reset/<uidb64>/<token>/",
        reset_pages.NewPasswordPage.as_view(),
        name="desk_password_reset",
    ),
    # For whoever comes through the provider.
    path("sign-on/", include("desk.people.sign_on.addresses")),
    path("second-factor/code/", guarded(second_factor_pages.code_page), name="second_factor_code"),
    path("second-factor/", guarded(second_factor_pages.account_page), name="second_factor_device"),
]
