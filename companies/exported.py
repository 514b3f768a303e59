"""Tables of this app in the export of a company (companies.exporting)."""

from collections.abc import Iterator
from typing import Any

from companies import erasing
from companies.exporting import Exported, register_exported

TOKENS = "SELECT id FROM companies_apitoken WHERE company_id = %(company)s"
ACTS = "SELECT id FROM companies_auditentry WHERE company_id = %(company)s"


def walk_itself(company_id: int, after: Any) -> Iterator[erasing.Batch]:
    yield [company_id], company_id


register_exported(
    __name__,
    Exported(
        "company",
        "the company itself.",
        "companies_company",
        walk_itself,
    ),
    Exported(
        "tokens",
        "its API tokens: when they were made, used and revoked, and how they begin.",
        "companies_apitoken",
        erasing.walk_of_ids(TOKENS, 500),
        without=("digest",),
    ),
    Exported(
        "acts",
        "what operators did to it: companies, tokens, webhooks.",
        "companies_auditentry",
        erasing.walk_of_ids(ACTS, 500),
        internal=("actor", "details", "outcome"),
    ),
)
