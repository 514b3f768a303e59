"""What we are, database, broker and cache, apps, templates, language."""

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
# Engine loops keep prepared statements and planner settings for as long as they run. Where
# DATABASE_URL leads to PgBouncer in transaction mode, this one leads to the server itself.
ENGINE_DATABASE = {}
if env.str("ENGINE_DATABASE_URL", default=""):
    ENGINE_DATABASE = database.connection_settings(env.postgresql("ENGINE_DATABASE_URL"))
    DATABASES["default"] |= {"DISABLE_SERVER_SIDE_CURSORS": True, "POOLED": True}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CELERY_BROKER_URL = env.str("BROKER_URL")
CELERY_TASK_IGNORE_RESULT = True
# A doorbell that cannot be rung is answered by the scheduler: never make a request wait for it.
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 1, "interval_start": 0, "interval_step": 0}
CELERY_BROKER_CONNECTION_TIMEOUT = 0.5
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "socket_timeout": 0.5,
    "socket_connect_timeout": 0.5,
    # A worker that waits asks Redis again so often; a message that comes is there at once.
    "polling_interval": 5,
}
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
    "core",
    "companies",
    "webhooks",
    "deliveries",
    "shipments",
    "tickets",
    "config",
]
MIDDLEWARE = [
    # The first, so that no answer is without one.
    "config.requests.RequestIds",
    "config.requests.CountRequests",
    "config.access_log.AccessLines",
    "config.request_traces.RequestSpans",
    "django.middleware.security.SecurityMiddleware",
    "config.static_files.StaticFiles",
    "config.compression.Compression",
    "config.security.SecurityHeaders",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    # Before whatever looks at the Host header.
    "core.health.probes.Probes",
    # What open pages ask costs no session where it is known who asks.
    "desk.live.asking.LiveAnswers",
    "config.languages.English",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "desk.people.signing_in.SigningIn",
    "desk.people.seen_sessions.SeenSessions",
    "desk.people.language.DeskLanguage",
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
# The list of languages: CONTRIBUTING.md says what one more needs. Their names are Django's.
LANGUAGES = [(code, gettext_lazy(LANG_INFO[code]["name"])) for code in ("en", "es")]
# Django fills what a catalogue lacks from this one. The API answers in it.
LANGUAGE_CODE = "en"
# Decision N21: the language of those who have chosen none.
DESK_LANGUAGE = env.str("LANGUAGE_CODE", default="en")
LOCALE_PATHS = [BASE_DIR / "locale"]
# The API, emails and logs are in UTC. The desk is in the zone of whoever reads, else in this one
# (decision N20).
TIME_ZONE = "UTC"
DESK_TIME_ZONE = env.str("TIME_ZONE", default="UTC")
USE_I18N = True
FORMAT_MODULE_PATH = "config.formats"
USE_TZ = True
STATIC_URL = "static/"
# A trailing slash is part of an address here: /ship/webhooktest/ has one, /webhooks has none.
APPEND_SLASH = False

UNFOLD = look.UNFOLD

# A web process that takes more memory is replaced by another; 0 is no limit.
WEB_MEMORY_MIB = env.int("WEB_MEMORY_MIB", default=512)

# Folder for what is no row: files of tickets, unless FILES_DIR says otherwise.
DATA_DIR = env.str("DATA_DIR", default="/tmp")  # noqa: S108 - good for trying it out
