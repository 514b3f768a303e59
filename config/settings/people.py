"""Sign-in to the desk, its limits, and sessions."""

from datetime import timedelta

from config.networks import PRIVATE
from config.settings.base import PRODUCT, env

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
# Lifetime of links in invitations; those for forgotten passwords last an hour
# (desk/people/resets.py).
PASSWORD_RESET_TIMEOUT = 7 * 24 * 3600
PASSWORD_HASHERS = ["desk.people.hashing.PBKDF2InTurn"]
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "desk.people.sign_on.passwords.PasswordsOfSuperusers",
    "django.contrib.auth.backends.ModelBackend",
]
LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "admin:index"
# Number of proxies in front whose entries in X-Forwarded-For are trusted.
PROXY_COUNT = env.int("PROXY_COUNT", default=0)
# Open connections of one address, or IPv6 /64, to one web process; the proxies' are not counted.
CONNECTIONS_PER_ADDRESS = env.int("CONNECTIONS_PER_ADDRESS", default=100)
PROXY_ADDRESSES = env.networks("PROXY_ADDRESSES", default=PRIVATE)
AXES_CLIENT_IP_CALLABLE = "desk.people.signing_in.client_address"
AXES_HANDLER = "desk.people.sign_in_limits.SignInLimits"
# A successful sign-in resets the failures of this pair; the handler counts others too.
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = timedelta(minutes=15)
# Attempts during a lockout do not extend it.
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_RESET_ON_SUCCESS = True
AXES_LOCKOUT_CALLABLE = "desk.people.signing_in.locked_out"
AXES_SENSITIVE_PARAMETERS = ["username", "ip_address", "csrfmiddlewaretoken"]
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False
REQUIRE_TOTP = env.bool("REQUIRE_TOTP", default=False)
OTP_TOTP_ISSUER = PRODUCT
# Single sign-on; off while there is no issuer (desk/people/sign_on).
OIDC_ISSUER = env.str("OIDC_ISSUER", default="")
OIDC_CLIENT_ID = env.str("OIDC_CLIENT_ID", default="")
OIDC_CLIENT_SECRET = env.str("OIDC_CLIENT_SECRET", default="")
OIDC_NAME = env.str("OIDC_NAME", default="")
OIDC_VERIFIED_CLAIM = env.str("OIDC_VERIFIED_CLAIM", default="email_verified")
OIDC_GROUPS_CLAIM = env.str("OIDC_GROUPS_CLAIM", default="")
# Each pair is split at its last =, since the name of a directory's group may contain one.
OIDC_ROLES = env.listed(
    "OIDC_ROLES",
    lambda pair: tuple(each.strip() for each in pair.rpartition("=")[::2]),
    default=[],
    kind="a list of pairs such as support=agent",
)
OIDC_CREATE_USERS = env.bool("OIDC_CREATE_USERS", default=False)
OIDC_ONLY = env.bool("OIDC_ONLY", default=False)
OIDC_SECOND_FACTOR = env.str("OIDC_SECOND_FACTOR", default="desk")
CSRF_FAILURE_VIEW = "config.errors.csrf_failure"
SESSION_ENGINE = "desk.common.session_store"
SESSION_COOKIE_AGE = 12 * 3600
SESSION_COOKIE_HTTPONLY = True
