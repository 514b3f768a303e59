"""Companies, their tokens, and rows about the service's own acts."""

from companies.models.company import Company, SearchName
from companies.models.kept_answers import KeptAnswer, KeptBundle
from companies.models.service import AuditEntry, Erasure
from companies.models.tokens import LAST_USED_PRECISION, ApiToken, PlatformToken, Token, lives

__all__ = [
    "LAST_USED_PRECISION",
    "ApiToken",
    "AuditEntry",
    "Company",
    "Erasure",
    "KeptAnswer",
    "KeptBundle",
    "PlatformToken",
    "SearchName",
    "Token",
    "lives",
]
