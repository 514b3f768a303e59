"""What a long-lived process does once it is loaded."""

import gc
from contextlib import suppress
from importlib import import_module

from celery import current_app
from django.conf import settings
from django.template.loader import get_template
from django.utils.module_loading import import_string
from django.utils.translation import trans_real

# With the first page of the desk come the templates and tags of all.
FIRST_TEMPLATES = ("admin/login.html", "admin/change_list.html", "admin/change_form.html")


def load_broker() -> None:
    """Import, before processes are forked, what rings and what counts: 15 MB in each otherwise."""
    current_app.amqp  # noqa: B018
    # An address that cannot be read is told by the checks of settings.
    with suppress(Exception):
        current_app.connection_for_write().get_transport_cls()
    if settings.CACHES["default"]["BACKEND"].endswith("RedisCache"):
        import_module("redis")


# They import what apps register. By name: models cannot be imported before Django is set up.
LOADERS = (
    "core.jobs.job.all_jobs",
    "core.watch.doctor.load_checks",
    "core.health.postgresql.shipped_migrations",
)


def load_registered() -> None:
    """Import jobs and checks of all apps before processes are forked that run them."""
    for loader in LOADERS:
        import_string(loader)()


def load_pages() -> None:
    """Load, before processes are forked, what the first page or scrape would."""
    import_string("core.measures.gauges.load_gauges")()
    for code, _ in settings.LANGUAGES:
        trans_real.translation(code)
    for name in FIRST_TEMPLATES:
        get_template(name)


def load_description() -> None:
    """Make what GET /schema answers, once for all processes that are forked afterwards."""
    import_string("config.pages.Description").load()


def settle() -> None:
    """Take what is loaded by now out of the garbage collector's rounds.

    It stays for the life of the process: a hundred thousand objects, which a full round would
    look through again and again, for about a tenth of a second in which nobody is answered.
    """
    gc.collect()
    gc.freeze()
