"""Who a request is from, how many it may send, and what a body may hold."""

from faults.broken import Mutant
from faults.broken.logs import LOGS_OF_COMPANIES

AUTHENTICATION = "companies/api/authentication.py"
BODIES = "companies/api/bodies.py"
JSON = "companies/strict_json.py"
KEYS = "companies/api/idempotency.py"
MODELS = "companies/models/tokens.py"
RATES = "companies/api/rates.py"
SERVICES = "companies/services.py"
TOKENS = "companies/tokens.py"

COMPANIES = (
    *LOGS_OF_COMPANIES,
    Mutant(
        "statements-not-prepared",
        "companies/statements.py",
        "prepare = self.prepared if prepare is None else prepare",
        "prepare = False",
        "The engine takes several times as much of the database.",
    ),
    Mutant(
        "revoked-token-opens",
        MODELS,
        " & Q(revoked_at=None)",
        "",
        "Whoever has an old token goes on reading.",
    ),
    Mutant(
        "token-of-inactive-company-opens",
        MODELS,
        "lives(now), company__active=True",
        "lives(now)",
        "A company that was switched off goes on.",
    ),
    Mutant(
        "expired-token-opens",
        MODELS,
        "(Q(expires_at=None) | Q(expires_at__gt=now)) & ",
        "",
        "A token for a day opens for ever.",
    ),
    Mutant(
        "tokens-are-kept-as-they-are",
        TOKENS,
        'return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()',
        "return token[:64]",
        "Whoever reads a backup has every company's token.",
    ),
    Mutant(
        "short-tokens",
        TOKENS,
        "secrets.token_urlsafe(32)",
        "secrets.token_urlsafe(6)",
        "Tokens can be guessed.",
    ),
    Mutant(
        "test-tokens-look-live",
        TOKENS,
        '"live" if environment == "production" else "test"',
        '"live"',
        "A token of the test environment is taken for one of production.",
    ),
    Mutant(
        "any-scheme",
        TOKENS,
        'return token[:LONGEST_TOKEN] if scheme.lower() == "bearer" else ""',
        "return token[:LONGEST_TOKEN]",
        "Basic is accepted, and nobody says so.",
    ),
    Mutant(
        "every-request-writes",
        AUTHENTICATION,
        "now - token.last_used_at > LAST_USED_PRECISION",
        "now > token.last_used_at",
        "Every read writes a row.",
    ),
    Mutant(
        "token-expires-at-once",
        SERVICES,
        "timezone.now() + expires_in if expires_in is not None else None",
        "timezone.now() + (expires_in or timedelta())",
        "A token without an end does not open at all.",
    ),
    Mutant(
        "revokes-what-is-revoked",
        SERVICES,
        "        revoked_at=None,\n",
        "",
        "A token is said to be revoked, and another of its prefix lives.",
    ),
    Mutant(
        "revokes-one-of-several",
        SERVICES,
        "if len(matching) != 1:",
        "if not matching:",
        "Of two tokens that begin alike any is revoked.",
    ),
    Mutant(
        "limits-are-shared",
        RATES,
        'request, f"{company.pk}:{rate}"',
        'request, f"{rate}"',
        "One company uses up the requests of all.",
    ),
    Mutant(
        "reads-count-as-writes",
        RATES,
        'request, f"{company.pk}:{rate}"',
        'request, f"{company.pk}"',
        "Who reads a lot cannot open a ticket.",
    ),
    Mutant(
        "one-more-than-allowed",
        RATES,
        "return used <= limit",
        "return used <= limit + 1",
        "The limit is another than the documents say.",
    ),
    Mutant(
        "each-waits-for-a-cache-that-is-away",
        RATES,
        "self.blind_until = now + BLIND_SECONDS",
        "self.blind_until = now",
        "Without the cache every request takes longer.",
    ),
    Mutant(
        "unknown-fields-ignored",
        BODIES,
        "for name in islice(names, MOST_UNKNOWN)}",
        "for name in islice(names, 0)}",
        "A misspelt name is thrown away without a word.",
    ),
    Mutant(
        "true-is-one",
        BODIES,
        "        if type(data) is not int:\n",
        "        if not isinstance(data, int):\n",
        "true is taken for the id 1.",
    ),
    Mutant(
        "flags-are-booleans-too",
        BODIES,
        "if type(data) is not int or data not in (0, 1):",
        "if data not in (0, 1):",
        "true and 1.0 are taken for 1.",
    ),
    Mutant(
        "texts-by-characters",
        BODIES,
        "if len(text.encode()) > LONGEST_TEXT_BYTES:",
        "if len(text) > LONGEST_TEXT_BYTES:",
        "A text takes four times the room that the documents allow.",
    ),
    Mutant(
        "texts-are-trimmed",
        BODIES,
        "super().__init__(trim_whitespace=False, **options)",
        "super().__init__(trim_whitespace=True, **options)",
        "A company reads another text than it sent.",
    ),
    Mutant(
        "blanks-are-a-text",
        BODIES,
        "if not self.allow_blank and is_blank(text):",
        "if not self.allow_blank and not text:",
        "A required text may be spaces.",
    ),
    Mutant(
        "ids-beyond-bigint",
        "companies/ids.py",
        "LARGEST_ID = 2**63 - 1",
        "LARGEST_ID = 2**63",
        "The largest id is answered with a 500.",
    ),
    Mutant(
        "compressed-bodies",
        "companies/api/negotiation.py",
        "    if coding not in codings:",
        "    if False:",
        "A compressed body is read as if it were none.",
    ),
    Mutant(
        "infinity-is-a-number",
        JSON,
        "if not math.isfinite(number):",
        "if math.isnan(number):",
        "A number is stored that no other parser reads.",
    ),
    Mutant(
        "nan-is-a-number",
        JSON,
        "parse_constant=refuse_constant, ",
        "",
        "A body is taken that is no JSON.",
    ),
    Mutant(
        "nul-in-a-text",
        JSON,
        'if "\\x00" in text:',
        'if "\\x00" == text:',
        "A NUL is answered with a 500.",
    ),
    Mutant(
        "key-on-another-path",
        KEYS,
        'f"{request.method} {request.path}\\n"',
        'f"{request.method}\\n"',
        "A comment on the second ticket is answered 200 and never written.",
    ),
    Mutant(
        "incidences-hold-no-shipment",
        "companies/locks.py",
        "pg_advisory_xact_lock(first, second)",
        "pg_try_advisory_xact_lock(first, second)",
        "A ticket and an incidence at once miss each other.",
    ),
    Mutant(
        "key-locks-for-all-companies",
        "companies/locks.py",
        "(-1 - %s %% 2147483648)",
        "(-1 - %s * 0)",
        "A company's key locks another company's.",
    ),
    Mutant(
        "key-of-another-company",
        KEYS,
        "KeptAnswer.objects.filter(company=request.company, key=key)",
        "KeptAnswer.objects.filter(key=key)",
        "A company is answered what another was told.",
    ),
    Mutant(
        "keys-without-a-lock",
        "companies/locks.py",
        "return bool(cursor.fetchone()[0])",
        "return cursor.fetchone() is not None",
        "Two requests at once with one key are both processed.",
    ),
    Mutant(
        "a-duplicate-for-a-day",
        KEYS,
        "if response.status_code < 400:",
        "if response.status_code != 429:",
        "A company is told of a duplicate for a day after it was decided.",
    ),
)
