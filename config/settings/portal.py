"""The company's page (decision N31)."""

from datetime import timedelta

from config.settings.base import env

COMPANY_PAGE = env.bool("COMPANY_PAGE", default=True)
# The service's address as people reach it, for links; else the first of ALLOWED_HOSTS.
PUBLIC_URL = env.str("PUBLIC_URL", default="").rstrip("/")
# Days after the last change of a ticket for which its links open it.
LINK_LIFETIME = timedelta(days=env.int("LINK_DAYS", default=60))
