"""WSGI application of the Procfile's web process."""

import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from config.memory import load_broker, load_description, load_pages, load_registered, settle
from config.startup import refuse_unsafe_settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

refuse_unsafe_settings()
application = get_wsgi_application()
# A second time for the checks that need the apps.
refuse_unsafe_settings()
# Imports all pages; Django would load them with the first request.
get_resolver().url_patterns  # noqa: B018
load_broker()
load_pages()
load_registered()
load_description()
settle()
