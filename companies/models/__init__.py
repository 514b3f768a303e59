"""Companies, their tokens, and what the service keeps of its own doings."""

from companies.models.company import Company, SearchName
from companies.models.kept_answers import KeptAnswer, KeptBundle
from companies.models.service import AuditEntry, Deployment, Erasure, FailedRow, HostReport, Sum
from companies.models.tokens import LAST_USED_PRECISION, ApiToken, PlatformToken, Token, lives

__all__ = [
    "LAST_USED_PRECISION",
    "ApiToken",
    "AuditEntry",
    "Company",
    "Deployment",
    "Erasure",
    "FailedRow",
    "HostReport",
    "KeptAnswer",
    "KeptBundle",
    "PlatformToken",
    "SearchName",
    "Sum",
    "Token",
    "lives",
]
