"""Preloading of modules before a fork, so that processes share their memory."""

import gc
from contextlib import suppress
from importlib import import_module

from celery import current_app
from django.conf import settings
from django.template.loader import get_template
from django.utils.module_loading import import_string
from django.utils.translation import trans_real

# Loading these also loads the base templates and tags of every desk page.
FIRST_TEMPLATES = ("admin/login.html", "admin/change_list.html", "admin/change_form.html")


def load_broker() -> None:
    """Import the clients of broker and cache before a fork; otherwise each process takes 15 MB."""
    current_app.amqp  # noqa: B018
    # The checks of settings report an invalid address.
    with suppress(Exception):
        current_app.connection_for_write().get_transport_cls()
    if settings.CACHES["default"]["BACKEND"].endswith("RedisCache"):
        import_module("redis")


# Each imports the modules that apps register. Given by name: models cannot be imported before
# Django is set up.
LOADERS = (
    "core.jobs.job.all_jobs",
    "core.watch.doctor.load_checks",
    "core.health.postgresql.shipped_migrations",
)


def load_registered() -> None:
    """Import the jobs and checks of all apps before processes are forked."""
    for loader in LOADERS:
        import_string(loader)()


def load_pages() -> None:
    """Load gauges, translations and templates before a fork, instead of at the first request."""
    import_string("core.measures.gauges.load_gauges")()
    for code, _ in settings.LANGUAGES:
        trans_real.translation(code)
    for name in FIRST_TEMPLATES:
        get_template(name)


def load_description() -> None:
    """Generate GET /schema once for all processes that are forked afterwards."""
    import_string("config.pages.Description").load()


def settle() -> None:
    """Exempt all objects that are loaded by now from garbage collection.

    These hundred thousand objects live as long as the process. Each full collection would traverse
    them, for about a tenth of a second in which no request is answered.
    """
    gc.collect()
    gc.freeze()
