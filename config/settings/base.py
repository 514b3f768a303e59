"""Product, database, broker, cache, apps, middleware, templates and languages."""

from pathlib import Path

from django.conf.locale import LANG_INFO
from django.utils.translation import gettext_lazy

from config import caches, deployments, env_files, look, queues
from config.environment import Environment
from core.data import database

env_files.load_env_file()
# Problems by variable; config.checks reports them.
UNREADABLE: dict[str, str] = {}
env = Environment()
env.unreadable = UNREADABLE
BASE_DIR = Path(__file__).resolve().parent.parent.parent

PRODUCT = "parceldesk"
VERSION = "1.0.0"
ENVIRONMENT = env.str("ENVIRONMENT", default="production")
DEBUG = env.bool("DEBUG", default=False)
SECRET_KEY = env.str("SECRET_KEY")
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=[])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])

DATABASES = {"default": database.connection_settings(env.postgresql("DATABASE_URL"))}
# Engine loops keep prepared statements and planner settings for as long as they run. If
# DATABASE_URL is that of a PgBouncer in transaction mode, this one must be the server's own.
ENGINE_DATABASE = {}
if env.str("ENGINE_DATABASE_URL", default=""):
    ENGINE_DATABASE = database.connection_settings(env.postgresql("ENGINE_DATABASE_URL"))
    DATABASES["default"] |= {"DISABLE_SERVER_SIDE_CURSORS": True, "POOLED": True}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CELERY_BROKER_URL = env.str("BROKER_URL")
CELERY_TASK_IGNORE_RESULT = True
# The scheduler makes up for a doorbell that was not sent, so a request never waits for the broker.
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 1, "interval_start": 0, "interval_step": 0}
CELERY_BROKER_CONNECTION_TIMEOUT = 0.5
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "socket_timeout": 0.5,
    "socket_connect_timeout": 0.5,
    # Seconds until an idle worker repeats its blocking read; a message still arrives at once.
    "polling_interval": 5,
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# Without this, a worker whose broker answers with errors (full, or without its replicas) would end,
# and its engine loops with it.
CELERY_BROKER_CHANNEL_ERROR_RETRY = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# Applies to tasks that are acknowledged late, and ours are not; Celery warns if it is unset.
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = True
# Decision N29: two deployments may share a broker.
DEPLOYMENT_KEY = deployments.deployment_key(
    env.str("DEPLOYMENT", default=""), DATABASES["default"], SECRET_KEY
)
CELERY_TASK_DEFAULT_QUEUE = CELERY_CONTROL_EXCHANGE = queues.tasks(DEPLOYMENT_KEY)
CELERY_TASK_ROUTES = {"deliveries.tasks.deliver": {"queue": queues.doorbell(DEPLOYMENT_KEY)}}
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"

CACHE_URL = env.str("CACHE_URL", default=caches.beside_the_broker(CELERY_BROKER_URL))
CACHES = caches.caches(CACHE_URL, prefix=f"{PRODUCT}:{DEPLOYMENT_KEY}")

INSTALLED_APPS = [
    # Apps that replace templates of the admin come before it, and the desk before unfold.
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
    "core",
    "companies",
    "webhooks",
    "deliveries",
    "shipments",
    "tickets",
    "portal",
    "config",
]
MIDDLEWARE = [
    # First, so that every answer has an id.
    "config.requests.RequestIds",
    "config.requests.CountRequests",
    "config.access_log.AccessLines",
    "config.request_traces.RequestSpans",
    "django.middleware.security.SecurityMiddleware",
    "config.static_files.StaticFiles",
    "config.compression.Compression",
    "config.security.SecurityHeaders",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    # Above the middleware that checks the Host header: probes may send any.
    "core.health.probes.Probes",
    # Above sessions: polls of a known session need no query for it.
    "desk.live.polling.LiveAnswers",
    "config.languages.English",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "desk.people.signing_in.SigningIn",
    "desk.people.seen_sessions.SeenSessions",
    "desk.people.language.DeskLanguage",
    "desk.people.gate.SecondFactor",
    "desk.post_only.PostOnly",
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
# CONTRIBUTING.md says how to add a language. Names are Django's.
LANGUAGES = [(code, gettext_lazy(LANG_INFO[code]["name"])) for code in ("en", "es")]
# Language of the API, and of texts that a catalogue lacks.
LANGUAGE_CODE = "en"
# Decision N21: the language of users who have not chosen one.
DESK_LANGUAGE = env.str("LANGUAGE_CODE", default="en")
LOCALE_PATHS = [BASE_DIR / "locale"]
# The API, emails and logs are in UTC. The desk uses the reader's time zone, by default
# DESK_TIME_ZONE (decision N20).
TIME_ZONE = "UTC"
DESK_TIME_ZONE = env.str("TIME_ZONE", default="UTC")
USE_I18N = True
FORMAT_MODULE_PATH = "config.formats"
USE_TZ = True
STATIC_URL = "static/"
# The interface fixes trailing slashes: /ship/webhooktest/ has one, /webhooks does not.
APPEND_SLASH = False

UNFOLD = look.UNFOLD

# A web process that takes more memory is replaced; 0 means no limit.
WEB_MEMORY_MIB = env.int("WEB_MEMORY_MIB", default=512)

# Folder for data outside the database: files of tickets, unless FILES_DIR is set.
DATA_DIR = env.str("DATA_DIR", default="/tmp")  # noqa: S108 - good for trying it out
