"""Every variable of the environment is read here, once. docs/operating.md lists them all.

Order: what we are, database, broker and cache, apps, API, tickets, webhooks and deliveries,
admin, security, logging.
"""

from datetime import timedelta
from pathlib import Path

from config import beat, caches, database, deployments, description, logs, look, queues
from config.environment import Environment
from config.networks import PRIVATE

env = Environment()
BASE_DIR = Path(__file__).resolve().parent.parent

PRODUCT = "parceldesk"
VERSION = "1.0.0"
ENVIRONMENT = env.str("ENVIRONMENT", default="production")
DEBUG = env.bool("DEBUG", default=False)
SECRET_KEY = env.str("SECRET_KEY")
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=[])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])

DATABASES = {"default": database.connection_settings(env.postgresql("DATABASE_URL"))}
# Engine loops keep prepared statements and planner settings for as long as they run. Where
# DATABASE_URL leads to PgBouncer in transaction mode, this one leads to the server itself.
ENGINE_DATABASE = {}
if env.str("ENGINE_DATABASE_URL", default=""):
    ENGINE_DATABASE = database.connection_settings(env.postgresql("ENGINE_DATABASE_URL"))
    DATABASES["default"] |= {"DISABLE_SERVER_SIDE_CURSORS": True, "POOLED": True}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CELERY_BROKER_URL = env.str("BROKER_URL")
CELERY_TASK_IGNORE_RESULT = True
# A doorbell that cannot be rung is answered by the sweep: never make a request wait for it.
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 1, "interval_start": 0, "interval_step": 0}
CELERY_BROKER_CONNECTION_TIMEOUT = 0.5
CELERY_BROKER_TRANSPORT_OPTIONS = {"socket_timeout": 0.5, "socket_connect_timeout": 0.5}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# A worker whose broker answers errors (full, or without its replicas) tries again; without this it
# would end, and its engine loops with it.
CELERY_BROKER_CHANNEL_ERROR_RETRY = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# Concerns tasks that are acknowledged late, which ours are not; unset, Celery warns of it.
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = True
# Decision N29: two deployments may share a broker.
DEPLOYMENT_KEY = deployments.deployment_key(
    env.str("DEPLOYMENT", default=""), DATABASES["default"], SECRET_KEY
)
CELERY_TASK_DEFAULT_QUEUE = CELERY_CONTROL_EXCHANGE = queues.tasks(DEPLOYMENT_KEY)
CELERY_TASK_ROUTES = {"deliveries.tasks.deliver": {"queue": queues.doorbell(DEPLOYMENT_KEY)}}
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE = beat.SCHEDULE

CACHE_URL = env.str("CACHE_URL", default=caches.beside_the_broker(CELERY_BROKER_URL))
CACHES = caches.caches(CACHE_URL, prefix=f"{PRODUCT}:{DEPLOYMENT_KEY}")

INSTALLED_APPS = [
    # Before the admin, whose templates they replace; the desk's own come before theirs.
    "desk",
    "unfold",
    "unfold.contrib.filters",
    "unfold.contrib.forms",
    "django.contrib.admin.apps.SimpleAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "axes",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "django_otp.plugins.otp_static",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "companies",
    "webhooks",
    "deliveries",
    "shipments",
    "tickets",
    "config",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.compression.GzipDesk",
    "config.security.SecurityHeaders",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    # Before whatever looks at the Host header.
    "config.health.Liveness",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "desk.people.signing_in.SigningIn",
    "desk.people.gate.SecondFactor",
    "desk.only_sent.OnlySent",
    "desk.common.controls.ShowControls",
    "django.contrib.messages.middleware.MessageMiddleware",
    "axes.middleware.AxesMiddleware",
]
ROOT_URLCONF = "config.urls"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]
LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = False
FORMAT_MODULE_PATH = "config.formats"
USE_TZ = True
STATIC_URL = "static/"
# Files are served from where the packages hold them: no collectstatic step to forget.
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG
# A trailing slash is part of an address here: /ship/webhooktest/ has one, /webhooks has none.
APPEND_SLASH = False

UNFOLD = look.UNFOLD

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["companies.api.authentication.BearerToken"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_THROTTLE_CLASSES": ["companies.api.rates.CompanyRate"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "companies.api.negotiation.JSONOnly",
    "DEFAULT_PARSER_CLASSES": ["companies.api.parsers.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "config.errors.answer_exception",
    "UNAUTHENTICATED_USER": None,
    "COMPACT_JSON": True,
}
SPECTACULAR_SETTINGS = {**description.SPECTACULAR, "VERSION": VERSION}
# Decision E6. The parser and Django's own form reader stop at the same size.
MAX_BODY_BYTES = DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
# Decision E7: requests a minute, per company and class of route.
RATE_LIMITS = {
    "read": env.int("RATE_LIMIT_READ", default=12000),
    "write": env.int("RATE_LIMIT_WRITE", default=6000),
    "send": env.int("RATE_LIMIT_SEND", default=120),
}

# Decision T9: (ticket, text, data) -> may the ticket come back to an agent?
RELEVANCE_CHECK = env.str("RELEVANCE_CHECK", default="tickets.relevance.says_something")
# Decision T19: who hears of an incidence, in its transaction. Shipments do not know tickets.
INCIDENCE_RECORDED = "tickets.incidences.link_tickets"
# Who hears of a webhook that is resumed, in its transaction. Webhooks do not know deliveries.
WEBHOOK_RESUMED = "deliveries.redelivery.catch_up"
# The same of a company that is active again. Companies do not know webhooks.
COMPANY_RESUMED = "webhooks.services.resume_company"

WEBHOOKS_PER_COMPANY = env.int("WEBHOOKS_PER_COMPANY", default=100)  # decision N4
# Newest first: the first encrypts, all of them decrypt.
FIELD_KEYS = env.list("FIELD_KEYS", default=[])
WEBHOOK_ALLOWED_NETWORKS = env.networks("WEBHOOK_ALLOWED_NETWORKS", default=())
WEBHOOK_ALLOW_HTTP = env.bool("WEBHOOK_ALLOW_HTTP", default=False)
DELIVERY_CA_BUNDLE = env.str("DELIVERY_CA_BUNDLE", default="")
DELIVERY_TIMEOUT_SECONDS = env.float("DELIVERY_TIMEOUT_SECONDS", default=5.0)
# Decision W19: waits after the first, second, … failure.
DELIVERY_RETRY_SECONDS = tuple(
    env.listed(
        "DELIVERY_RETRY_SECONDS",
        cast=float,
        default=[5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400],
        kind="a list of numbers",
    )
)
# Engine loops at once, over all workers of one database: about one per core of the workers.
DELIVERY_LOOPS = env.int("DELIVERY_LOOPS", default=2)
DELIVERY_USER_AGENT = f"{PRODUCT}/{VERSION}"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
PASSWORD_HASHERS = ["desk.people.hashing.PBKDF2InTurn"]
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "admin:index"
# Proxies in front that append to X-Forwarded-For: their word is taken for the client's address.
PROXY_COUNT = env.int("PROXY_COUNT", default=0)
# Open connections of one address, or IPv6 /64, to one web process; the proxies' are not counted.
CONNECTIONS_PER_ADDRESS = env.int("CONNECTIONS_PER_ADDRESS", default=100)
PROXY_ADDRESSES = env.networks("PROXY_ADDRESSES", default=PRIVATE)
AXES_CLIENT_IP_CALLABLE = "desk.people.signing_in.client_address"
AXES_HANDLER = "desk.people.sign_in_limits.SignInLimits"
# What a success forgets; the handler counts more than that.
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = timedelta(minutes=15)
# Who tries again while locked out does not wait for longer.
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_RESET_ON_SUCCESS = True
AXES_LOCKOUT_CALLABLE = "desk.people.signing_in.locked_out"
AXES_SENSITIVE_PARAMETERS = ["username", "ip_address", "csrfmiddlewaretoken"]
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False
REQUIRE_TOTP = env.bool("REQUIRE_TOTP", default=False)
OTP_TOTP_ISSUER = PRODUCT
CSRF_FAILURE_VIEW = "config.errors.csrf_failure"
SESSION_COOKIE_AGE = 12 * 3600
SESSION_COOKIE_HTTPONLY = True
EMAIL_HOST = env.str("EMAIL_HOST", default="")
# Without a mail server, mail is printed to standard output.
EMAIL_BACKEND = env.str(
    "EMAIL_BACKEND",
    default=f"django.core.mail.backends.{'smtp' if EMAIL_HOST else 'console'}.EmailBackend",
)
# TLS from the first byte (465), or after STARTTLS (587).
EMAIL_USE_SSL = env.bool("EMAIL_USE_SSL", default=False)
EMAIL_USE_TLS = env.bool("EMAIL_USE_TLS", default=bool(EMAIL_HOST) and not EMAIL_USE_SSL)
EMAIL_PORT = env.int("EMAIL_PORT", default=465 if EMAIL_USE_SSL else 587 if EMAIL_USE_TLS else 25)
EMAIL_HOST_USER = env.str("EMAIL_HOST_USER", default="")
EMAIL_HOST_PASSWORD = env.str("EMAIL_HOST_PASSWORD", default="")
# Of one read or write: a mail server that does not answer must not hold up what sends the mail.
EMAIL_TIMEOUT = env.float("EMAIL_TIMEOUT_SECONDS", default=10.0)
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env.str("EMAIL_FROM", default=f"{PRODUCT}@localhost")

# Behind a proxy that ends TLS. `./dev run` serves plain HTTP on loopback and says ENVIRONMENT=test.
HTTPS = env.bool("HTTPS", default=ENVIRONMENT == "production")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_HSTS_SECONDS = 31536000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

LOG_LEVEL = env.str("LOG_LEVEL", default="INFO").upper()
LOGGING = logs.logging(LOG_LEVEL)
# Where beat keeps its schedule (Procfile).
DATA_DIR = env.str("DATA_DIR", default="/tmp")  # noqa: S108 - as the Procfile says
