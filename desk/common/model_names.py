"""The names of tables and their fields, as the desk's forms and lists show them.

Django derives a field's name from that of its column, where no translator finds it:
`locale/others.pot` lists those that the desk shows. Migrations keep the English ones.
"""

from typing import Any

from django.apps import apps
from django.utils.translation import gettext_lazy, override

OURS = ("core", "companies", "webhooks", "deliveries", "shipments", "tickets", "desk")


def translate_model_names() -> None:
    """Have every app, table and field say its name in the language of the reader."""
    # As they stand in the code, whatever the deployment speaks.
    with override(None):
        for app in (*OURS, "auth", "axes"):
            config = apps.get_app_config(app)
            config.verbose_name = translated(config.verbose_name)
            for model in config.get_models():
                meta = model._meta
                meta.verbose_name = translated(meta.verbose_name)
                meta.verbose_name_plural = translated(meta.verbose_name_plural)
                for field in meta.local_fields + list(meta.local_many_to_many):
                    field.verbose_name = translated(field.verbose_name)
                for field in meta.local_many_to_many:
                    name_links(field)


def name_links(field: Any) -> None:
    """Call the rows of a many-to-many table by the field and by what they lead to."""
    through = field.remote_field.through
    if through._meta.auto_created:
        through._meta.verbose_name = through._meta.verbose_name_plural = field.verbose_name
        there = field.m2m_reverse_field_name()
        through.__str__ = lambda link: str(getattr(link, there))


def translated(name: Any) -> Any:
    """A name that is translated when it is read."""
    text = str(name)
    return gettext_lazy(text)
