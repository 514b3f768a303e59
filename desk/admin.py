"""The back office: Django finds here the admin pages of every room of the desk."""

from django.contrib import admin
from django.http import HttpRequest

from desk.claim_file.pages import ClaimFilePages
from desk.opening.pages import OpeningPages
from desk.people.agent_admin import AgentAdmin
from desk.people.company_admin import CompanyAdmin
from desk.people.user_admin import GroupAdmin, UserAdmin
from desk.queue.list_admin import ListPages
from desk.setup.decision_admin import ApprovalLimitAdmin, ReasonCodeAdmin
from desk.setup.document_admin import RequiredDocumentAdmin
from desk.setup.macro_admin import MacroAdmin
from desk.setup.sla_admin import CalendarAdmin, FilingRuleAdmin, TargetAdmin
from desk.setup.ticket_type_admin import TicketTypeAdmin
from desk.storms.storm_admin import StormAdmin
from desk.support.delivery_admin import DeliveryAdmin
from desk.support.failed_row_admin import FailedRowAdmin
from desk.support.pages import SupportPages
from desk.support.replay_admin import ReplayAdmin
from desk.support.shipment_admin import ShipmentAdmin
from desk.support.webhook_admin import WebhookAdmin
from desk.ticket.claim_pages import ClaimPages
from desk.ticket.reassign_pages import ReassignPages
from desk.ticket.together_pages import TogetherPages
from tickets.models import Ticket

__all__ = [
    "AgentAdmin",
    "ApprovalLimitAdmin",
    "CalendarAdmin",
    "CompanyAdmin",
    "DeliveryAdmin",
    "FailedRowAdmin",
    "FilingRuleAdmin",
    "GroupAdmin",
    "MacroAdmin",
    "ReasonCodeAdmin",
    "ReplayAdmin",
    "RequiredDocumentAdmin",
    "ShipmentAdmin",
    "StormAdmin",
    "TargetAdmin",
    "TicketAdmin",
    "TicketTypeAdmin",
    "UserAdmin",
    "WebhookAdmin",
]


@admin.register(Ticket)
class TicketAdmin(
    ListPages,
    OpeningPages,
    ReassignPages,
    SupportPages,
    ClaimFilePages,
    ClaimPages,
    TogetherPages,
):
    """The desk. What agents do is sent from a ticket's page."""

    actions = (*ClaimPages.actions, "give")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Ticket | None = None) -> bool:
        return False
