"""The names of tables and their fields, as the desk's forms and lists show them.

Django derives a field's name from that of its column, where no translator finds it. They are listed
here, and translated once all tables are known; migrations keep the English ones.
"""

from typing import Any

from django.apps import apps
from django.utils.translation import gettext_lazy, gettext_noop, override

OURS = ("companies", "webhooks", "deliveries", "shipments", "tickets", "desk")
TABLES = {
    gettext_noop("API token"),
    gettext_noop("API tokens"),
    gettext_noop("SLA target"),
    gettext_noop("SLA targets"),
    gettext_noop("absence"),
    gettext_noop("absences"),
    gettext_noop("agent"),
    gettext_noop("agents"),
    gettext_noop("calendar"),
    gettext_noop("calendars"),
    gettext_noop("companies"),
    gettext_noop("company"),
    gettext_noop("deliveries"),
    gettext_noop("delivery"),
    gettext_noop("failed row"),
    gettext_noop("failed rows"),
    gettext_noop("filing rule"),
    gettext_noop("filing rules"),
    gettext_noop("holiday"),
    gettext_noop("holidays"),
    gettext_noop("incidence"),
    gettext_noop("incidences"),
    gettext_noop("macro"),
    gettext_noop("macros"),
    gettext_noop("shift"),
    gettext_noop("shifts"),
    gettext_noop("shipment"),
    gettext_noop("shipments"),
    gettext_noop("storm"),
    gettext_noop("storms"),
    gettext_noop("surcharge"),
    gettext_noop("surcharges"),
    gettext_noop("ticket"),
    gettext_noop("ticket type"),
    gettext_noop("ticket types"),
    gettext_noop("tickets"),
    gettext_noop("tracking update"),
    gettext_noop("tracking updates"),
    gettext_noop("webhook"),
    gettext_noop("webhooks"),
    gettext_noop("working hours"),
}
FIELDS = {
    gettext_noop("active"),
    gettext_noop("attempts"),
    gettext_noop("available"),
    gettext_noop("capacity"),
    gettext_noop("carrier id"),
    gettext_noop("carrier name"),
    gettext_noop("closed at"),
    gettext_noop("contact email"),
    gettext_noop("counts from delivery"),
    gettext_noop("created at"),
    gettext_noop("day"),
    gettext_noop("days"),
    gettext_noop("decided by"),
    gettext_noop("deleted at"),
    gettext_noop("delivered at"),
    gettext_noop("description"),
    gettext_noop("due at"),
    gettext_noop("ends"),
    gettext_noop("ends at"),
    gettext_noop("error"),
    gettext_noop("expires at"),
    gettext_noop("files"),
    gettext_noop("finished at"),
    gettext_noop("first at"),
    gettext_noop("first failed"),
    gettext_noop("first response minutes"),
    gettext_noop("found"),
    gettext_noop("hour"),
    gettext_noop("inputs"),
    gettext_noop("key"),
    gettext_noop("kind"),
    gettext_noop("language"),
    gettext_noop("last assigned at"),
    gettext_noop("last failed"),
    gettext_noop("last used at"),
    gettext_noop("location"),
    gettext_noop("max in flight"),
    gettext_noop("move to"),
    gettext_noop("name"),
    gettext_noop("occurred at"),
    gettext_noop("open"),
    gettext_noop("paused reason"),
    gettext_noop("plan"),
    gettext_noop("prefix"),
    gettext_noop("public"),
    gettext_noop("reason"),
    gettext_noop("reference"),
    gettext_noop("reference required"),
    gettext_noop("requested"),
    gettext_noop("resolution minutes"),
    gettext_noop("resumed at"),
    gettext_noop("revoked at"),
    gettext_noop("shipped at"),
    gettext_noop("skills"),
    gettext_noop("starts"),
    gettext_noop("starts at"),
    gettext_noop("state"),
    gettext_noop("status"),
    gettext_noop("status description"),
    gettext_noop("surcharge id"),
    gettext_noop("surcharge type"),
    gettext_noop("task"),
    gettext_noop("text"),
    gettext_noop("time zone"),
    gettext_noop("times"),
    gettext_noop("title"),
    gettext_noop("tracking number"),
    gettext_noop("transaction type"),
    gettext_noop("type"),
    gettext_noop("types"),
    gettext_noop("updated at"),
    gettext_noop("use case"),
    gettext_noop("user"),
    gettext_noop("usual"),
    gettext_noop("weekday"),
}


def translate_model_names() -> None:
    """Have every table and field that is listed say its name in the language of the reader."""
    # As they stand in the code, whatever the deployment speaks.
    with override(None):
        for app in OURS:
            for model in apps.get_app_config(app).get_models():
                meta = model._meta
                meta.verbose_name = translated(meta.verbose_name)
                meta.verbose_name_plural = translated(meta.verbose_name_plural)
                for field in meta.local_fields + list(meta.local_many_to_many):
                    field.verbose_name = translated(field.verbose_name)


def translated(name: Any) -> Any:
    """A name that is listed, as one that is translated when it is read."""
    text = str(name)
    return gettext_lazy(text) if text in TABLES | FIELDS else name
