"""URLs of the desk: `urlpatterns` of its own pages, `table_pages` within the admin's."""

from django.urls import include, path

from desk.automations import pages as automation_pages
from desk.claim_file import pages as claim_file_pages
from desk.first_run import pages as first_run_pages
from desk.joining import pages as joining_pages
from desk.live import notification_pages, polling
from desk.opening import pages as opening_pages
from desk.palette import pages as palette_pages
from desk.people import (
    agent_pages,
    audit_pages,
    preference_pages,
    reset_pages,
    second_factor_pages,
    session_pages,
)
from desk.queue import autocomplete, export, view_pages
from desk.reports import dashboard, report_pages
from desk.storms import storm_pages
from desk.support import (
    delivery_pages,
    replay_pages,
    sending_pages,
    webhook_pages,
)
from desk.support import pages as support_pages
from desk.ticket import (
    appeal_pages,
    claim_pages,
    file_pages,
    link_pages,
    moves,
    pending_pages,
    reassign_pages,
    together_pages,
)
from desk.ticket import pages as ticket_pages

urlpatterns = [
    path("palette/", palette_pages.palette_page, name="desk_palette"),
    path("automations/", automation_pages.automations_page, name="desk_automations"),
    path(
        "automations/<slug:kind>/<int:type_id>/",
        automation_pages.settings_page,
        name="desk_automation",
    ),
    path("figures/fairness/", dashboard.fairness_page, name="desk_fairness"),
    path("reports/", report_pages.report_page, name="desk_report"),
    path("reports/<slug:slug>.csv", report_pages.report_file, name="desk_report_file"),
    path("figures/<slug:slug>.csv", dashboard.export_table, name="desk_export"),
    path("audit/", audit_pages.audit_page, name="desk_audit"),
    path("audit.csv", audit_pages.audit_file, name="desk_audit_file"),
    path("preferences/", preference_pages.preferences_page, name="desk_preferences"),
    path("sessions/", session_pages.own_sessions_page, name="desk_sessions"),
    path("sessions/<int:user_id>/", session_pages.user_sessions_page, name="desk_user_sessions"),
    path("live/", polling.live_page, name="desk_live"),
    path("live/mine/", notification_pages.mine_page, name="desk_live_mine"),
    path("notifications/", notification_pages.list_page, name="desk_notifications"),
    path("notifications/read/", notification_pages.read_page, name="desk_notifications_read"),
    path("first-run/", first_run_pages.first_run_page, name="desk_first_run"),
    path("agents/add/", joining_pages.add_agents_page, name="desk_add_agents"),
    path(
        "agents/invitations/<int:user_id>/",
        joining_pages.invitation_change,
        name="desk_invitation_change",
    ),
    # For users without a password.
    path(
        "invitation/<uidb64>/<token>/",
        joining_pages.InvitationPage.as_view(),
        name="desk_invitation",
    ),
    # For forgotten passwords. Unfold's login page links to the first by this name.
    path("password-reset/", reset_pages.ask_reset_page, name="admin_password_reset"),
    path(
        "password-reset/<uidb64>/<token>/",
        reset_pages.NewPasswordPage.as_view(),
        name="desk_password_reset",
    ),
    # For single sign-on.
    path("sign-on/", include("desk.people.sign_on.addresses")),
    path("second-factor/code/", second_factor_pages.code_page, name="second_factor_code"),
    path("second-factor/", second_factor_pages.account_page, name="second_factor_device"),
]

ticket = [
    path("names/", autocomplete.names_page, name="tickets_ticket_names"),
    path("views/", view_pages.views_page, name="tickets_ticket_views"),
    path("export/", export.export_page, name="tickets_ticket_export"),
    path("new/", opening_pages.new_page, name="tickets_ticket_new"),
    path("take/", ticket_pages.take_page, name="tickets_ticket_take"),
    path("move/<int:to>/", moves.move_page, name="tickets_ticket_move"),
    path("give/", reassign_pages.give_page, name="tickets_ticket_give"),
    path("pending/", pending_pages.pending_bar, name="tickets_ticket_pending"),
    path(
        "pending/<uuid:batch>/<slug:act>/",
        pending_pages.pending_act,
        name="tickets_ticket_pending_act",
    ),
    path("colleagues/", together_pages.colleagues_page, name="tickets_ticket_colleagues"),
    path("events/", support_pages.find_page, name="tickets_ticket_events"),
    path(
        "events/<id:shipment_id>/evidence/",
        claim_file_pages.shipment_evidence_page,
        name="tickets_ticket_shipment_evidence",
    ),
]

one_ticket = [
    path("write/", ticket_pages.write_page, name="tickets_ticket_write"),
    path("presence/", ticket_pages.presence_page, name="tickets_ticket_presence"),
    path("claim/", ticket_pages.claim_page, name="tickets_ticket_claim"),
    path("hand-over/", together_pages.hand_over_page, name="tickets_ticket_hand_over"),
    path("watch/", together_pages.watch_page, name="tickets_ticket_watch"),
    path("snooze/", together_pages.snooze_page, name="tickets_ticket_snooze"),
    path("relate/", together_pages.relate_page, name="tickets_ticket_relate"),
    path("amounts/", claim_pages.amounts_page, name="tickets_ticket_amounts"),
    path("end-links/", link_pages.end_links_page, name="tickets_ticket_end_links"),
    path("appeal/", appeal_pages.appeal_page, name="tickets_ticket_appeal"),
    path("claim-file/", claim_file_pages.claim_file_page, name="tickets_ticket_claim_file"),
    path("evidence/", claim_file_pages.ticket_evidence_page, name="tickets_ticket_evidence"),
    path("files/<id:file_id>/file/", file_pages.file_page, name="tickets_ticket_file"),
    path(
        "files/<id:file_id>/thumbnail/", file_pages.thumbnail_page, name="tickets_ticket_thumbnail"
    ),
    path(
        "files/<id:file_id>/page/<int:number>/", file_pages.page_picture, name="tickets_ticket_page"
    ),
]

agent = [
    path("hand-over/", agent_pages.hand_over_page, name="tickets_agent_hand_over"),
    path("available/", agent_pages.available_page, name="tickets_agent_available"),
]

storm = [
    path("reply/", storm_pages.reply_page, name="desk_storm_reply"),
    path("decide/<slug:to>/", storm_pages.decide_page, name="desk_storm_decide"),
]

delivery = [
    path("again/", delivery_pages.again_page, name="deliveries_delivery_again"),
    path("signature/", delivery_pages.proof_page, name="deliveries_delivery_proof"),
]

replay = [
    path("new/", replay_pages.new_page, name="deliveries_replay_new"),
    path("<id:run_id>/stop/", replay_pages.stop_page, name="deliveries_replay_stop"),
]

webhook = [
    path("sick/", webhook_pages.sick_page, name="webhooks_webhook_sick"),
    path("pause/", webhook_pages.pause_page, name="webhooks_webhook_pause"),
    path("resume/", webhook_pages.resume_page, name="webhooks_webhook_resume"),
    path("sending/", sending_pages.sending_page, name="webhooks_webhook_sending"),
    path("sending/hold/", sending_pages.hold_page, name="webhooks_webhook_sending_hold"),
    path("sending/release/", sending_pages.release_page, name="webhooks_webhook_sending_release"),
    path("sending/drain/", sending_pages.drain_page, name="webhooks_webhook_sending_drain"),
    path("sending/resume/", sending_pages.resume_page, name="webhooks_webhook_sending_resume"),
]

# URL names follow the admin's of the same table, in its namespace: `admin:tickets_ticket_new`.
table_pages = [
    path("tickets/ticket/", include(ticket)),
    path("tickets/ticket/<id:ticket_id>/", include(one_ticket)),
    path("tickets/agent/<int:agent_id>/", include(agent)),
    path("desk/storm/<int:storm_id>/", include(storm)),
    path("deliveries/delivery/<uuid:delivery_id>/", include(delivery)),
    path("deliveries/replay/", include(replay)),
    path("webhooks/webhook/", include(webhook)),
]
