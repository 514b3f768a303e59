"""The back office: Django finds here the admin pages of every room of the desk."""

from desk.people.agent_admin import AgentAdmin
from desk.people.company_admin import CompanyAdmin
from desk.people.user_admin import GroupAdmin, UserAdmin
from desk.setup.decision_admin import ApprovalLimitAdmin, ReasonCodeAdmin
from desk.setup.document_admin import RequiredDocumentAdmin
from desk.setup.macro_admin import MacroAdmin
from desk.setup.sla_admin import CalendarAdmin, FilingRuleAdmin, TargetAdmin
from desk.setup.ticket_type_admin import TicketTypeAdmin
from desk.storms.storm_admin import StormAdmin
from desk.support.delivery_admin import DeliveryAdmin
from desk.support.failed_row_admin import FailedRowAdmin
from desk.support.replay_admin import ReplayAdmin
from desk.support.shipment_admin import ShipmentAdmin
from desk.support.webhook_admin import WebhookAdmin
from desk.ticket.ticket_admin import TicketAdmin

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
