"""Imports of all admin pages of the desk, found here by Django's autodiscovery."""

from desk.people import agent_admin, company_admin, user_admin
from desk.setup import decision_admin, document_admin, macro_admin, sla_admin, ticket_type_admin
from desk.storms import storm_admin
from desk.support import (
    delivery_admin,
    failed_row_admin,
    replay_admin,
    shipment_admin,
    webhook_admin,
)
from desk.ticket import ticket_admin

# Each module registers its pages when imported.
__all__ = [
    "agent_admin",
    "company_admin",
    "decision_admin",
    "delivery_admin",
    "document_admin",
    "failed_row_admin",
    "macro_admin",
    "replay_admin",
    "shipment_admin",
    "sla_admin",
    "storm_admin",
    "ticket_admin",
    "ticket_type_admin",
    "user_admin",
    "webhook_admin",
]
