"""The defaults, what connections are told, and what an error says."""

from faults.broken import Mutant
from faults.broken.logs import LOGS_OF_CONFIG

ANSWERING = "config/postgresql/answering.py"
BASE = "config/postgresql/base.py"
BEAT = "config/beat.py"
CACHES = "config/caches.py"
DATABASE = "config/database.py"
ERRORS = "config/errors.py"
ASKERS = "config/door/askers.py"
CONNECTIONS = "config/door/connections.py"
FAIR_QUEUE = "config/door/fair_queue.py"
SECURITY = "config/security.py"
API = "config/settings/api.py"
IDENTITY = "config/settings/base.py"
MAIL = "config/settings/mail.py"
PEOPLE = "config/settings/people.py"
HTTPS = "config/settings/security.py"
WEBHOOKS = "config/settings/webhooks.py"

CONFIG = (
    *LOGS_OF_CONFIG,
    Mutant(
        "hundred-times-the-test-sends",
        API,
        'env.int("RATE_LIMIT_SEND", default=120)',
        'env.int("RATE_LIMIT_SEND", default=12_000)',
        "A company uses us to flood somebody.",
    ),
    Mutant(
        "anybody-says-https",
        HTTPS,
        '("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None',
        '("HTTP_X_FORWARDED_PROTO", "https")',
        "Whoever asks decides whether a connection was safe.",
    ),
    Mutant(
        "who-is-refused-goes-on",
        FAIR_QUEUE,
        "if status in STOP_ASKING:",
        "if status in ():",
        "Who is over its limit, or locked out, keeps every process busy with being refused.",
    ),
    Mutant(
        "a-row-for-each-made-up-token",
        ASKERS,
        'CALLERS.owner("token", shown_token(sent.get("AUTHORIZATION", "")))',
        'sent.get("AUTHORIZATION", "")',
        "A stranger has as many turns as they write headers.",
    ),
    Mutant(
        "who-reads-nothing-stays",
        CONNECTIONS,
        "self.sock.delivered() - self.delivered >= allowances.READER_BYTES",
        "True",
        "Strangers who read nothing keep every connection for as long as they like.",
    ),
    Mutant(
        "a-company-has-every-thread",
        FAIR_QUEUE,
        "if len(begun) < self.share and all(now - turn.began > LONG_SECONDS for turn in begun):",
        "if len(begun) < self.free:",
        "Fifty requests of one company at once, and everybody else waits behind them.",
    ),
    Mutant(
        "debug-by-default",
        IDENTITY,
        'env.bool("DEBUG", default=False)',
        'env.bool("DEBUG", default=True)',
        "An error shows the settings to whoever caused it.",
    ),
    Mutant(
        "test-by-default",
        IDENTITY,
        'env.str("ENVIRONMENT", default="production")',
        'env.str("ENVIRONMENT", default="test")',
        "What is forgotten in production loosens it.",
    ),
    Mutant(
        "http-by-default",
        WEBHOOKS,
        'env.bool("WEBHOOK_ALLOW_HTTP", default=False)',
        'env.bool("WEBHOOK_ALLOW_HTTP", default=True)',
        "Events go out in clear.",
    ),
    Mutant(
        "cookies-for-scripts",
        PEOPLE,
        "SESSION_COOKIE_HTTPONLY = True",
        "SESSION_COOKIE_HTTPONLY = False",
        "A script in a page takes the session away.",
    ),
    Mutant(
        "no-hsts",
        HTTPS,
        "SECURE_HSTS_SECONDS = 31536000 if HTTPS else 0",
        "SECURE_HSTS_SECONDS = 0",
        "A browser can be led to plain HTTP.",
    ),
    Mutant(
        "fifty-seconds-an-attempt",
        WEBHOOKS,
        'env.float("DELIVERY_TIMEOUT_SECONDS", default=5.0)',
        'env.float("DELIVERY_TIMEOUT_SECONDS", default=50.0)',
        "A silent receiver holds a slot for ten times as long.",
    ),
    Mutant(
        "a-retry-less",
        WEBHOOKS,
        "50400, 72000, 86400],",
        "50400, 72000],",
        "What a receiver misses over a weekend is given up.",
    ),
    Mutant(
        "sessions-for-a-fortnight",
        PEOPLE,
        "SESSION_COOKIE_AGE = 12 * 3600",
        "SESSION_COOKIE_AGE = 14 * 86400",
        "A forgotten browser stays signed in.",
    ),
    Mutant(
        "mail-without-an-end",
        MAIL,
        'env.float("EMAIL_TIMEOUT_SECONDS", default=10.0)',
        'env.float("EMAIL_TIMEOUT_SECONDS", default=1e6)',
        "A mail server that does not answer holds up what sends.",
    ),
    Mutant(
        "says-what-the-database-said",
        ERRORS,
        "body(path, 503, AWAY, code",
        "body(path, 503, str(error), code",
        "An error tells where the database is.",
    ),
    Mutant(
        "away-without-retry-after",
        ERRORS,
        'status=503, headers={"Retry-After": "5"})',
        "status=503)",
        "Clients hammer a database that comes back.",
    ),
    Mutant(
        "one-body-for-both-faces",
        "config/error_bodies.py",
        'if path.startswith("/ship/"):',
        'if path.startswith("/shipping/"):',
        "Programs that read the shipping paths' errors find nothing.",
    ),
    Mutant(
        "first-error-only",
        ERRORS,
        '"code": WRONG_FIELDS, "errors": errors}',
        '"code": WRONG_FIELDS, "errors": errors[:1]}',
        "Of three wrong fields one is named.",
    ),
    Mutant(
        "place-in-a-list-left-out",
        ERRORS,
        'yield from flat(inner, f"{field}[{name}]")',
        "yield from flat(inner, field)",
        "Nobody is told which of a hundred documents is wrong.",
    ),
    Mutant(
        "pages-may-be-framed",
        SECURITY,
        '''"object-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"''',
        '''"object-src 'none'; base-uri 'none'; form-action 'self'"''',
        "Another site has an agent click on what they do not see.",
    ),
    Mutant(
        "answers-may-run-scripts",
        SECURITY,
        'return PAGES if path == "/docs" else STRICT',
        "return PAGES",
        "What a company wrote runs where it is shown raw.",
    ),
    Mutant(
        "api-answers-compressed",
        "config/compression.py",
        "desk or is_below_docs(request) or getattr(response, MAY_COMPRESS, False)",
        "True",
        "The length of an answer tells the secret that is in it.",
    ),
    Mutant(
        "cache-among-the-tasks",
        CACHES,
        'query = [("db", "1"),',
        'query = [("db", "0"),',
        "Whoever clears the cache loses tasks.",
    ),
    Mutant(
        "counting-makes-wait",
        CACHES,
        '{"socket_timeout": 0.2, "socket_connect_timeout": 0.2}',
        '{"socket_timeout": 20.0, "socket_connect_timeout": 20.0}',
        "Every request waits for a cache that hangs.",
    ),
    Mutant(
        "statements-are-compiled",
        DATABASE,
        "set_config('jit', 'off', false)",
        "set_config('jit', 'on', false)",
        "On Debian's PostgreSQL deliveries go out at a hundredth of the rate.",
    ),
    Mutant(
        "statements-without-an-end",
        DATABASE,
        "set_config('statement_timeout', '30s', false)",
        "set_config('statement_timeout', '0', false)",
        "A statement that hangs holds its connection for ever.",
    ),
    Mutant(
        "what-the-url-says-is-ignored",
        DATABASE,
        '{**OPTIONS, **several, **address.get("OPTIONS", {})}',
        '{**address.get("OPTIONS", {}), **OPTIONS, **several}',
        "An operator cannot set how long to wait for a connection.",
    ),
    Mutant(
        "any-of-several-servers",
        DATABASE,
        '{"target_session_attrs": "read-write"} if "," in address.get("HOST", "") else {}',
        '{"target_session_attrs": "any"} if "," in address.get("HOST", "") else {}',
        "After a failover half of the connections lead to a server that takes no writes.",
    ),
    Mutant(
        "primary-no-longer-and-still-asked",
        BASE,
        "        except ReadOnlySqlTransaction as error:\n            self.pgconn.finish()\n",
        "        except ReadOnlySqlTransaction as error:\n",
        "Loops go on asking a server that takes no writes any more.",
    ),
    Mutant(
        "cut-off-for-a-quarter-of-an-hour",
        DATABASE,
        '    "tcp_user_timeout": 10_000,\n',
        "",
        "A host that is cut off is noticed by nobody.",
    ),
    Mutant(
        "patience-without-an-end",
        BASE,
        'connection.patience = self.settings_dict.get("PATIENCE_SECONDS")',
        "connection.patience = None",
        "A database that hangs stops every thread.",
    ),
    Mutant(
        "each-statement-waits-anew",
        ANSWERING,
        "return min(patience, left)",
        "return patience",
        "While the database stands still, a request waits twice, and its client gives up first.",
    ),
    Mutant(
        "failing-webhooks-once-a-day",
        BEAT,
        '"task": "deliveries.tasks.pause_failing",\n        "schedule": 300.0',
        '"task": "deliveries.tasks.pause_failing",\n        "schedule": 86_400.0',
        "A webhook that fails for five days is told of it on the sixth.",
    ),
    Mutant(
        "half-migrated-goes-on",
        "config/upgrades.py",
        "if replaced - applied and ({key} | replaced) & applied:",
        "if replaced - applied and replaced < applied:",
        "A database of an old version is migrated into a state that is none.",
    ),
    Mutant(
        "production-says-test",
        "config/pages.py",
        'if settings.ENVIRONMENT == "production":',
        'if settings.ENVIRONMENT == "test":',
        "An agent tries something out in production.",
    ),
)
