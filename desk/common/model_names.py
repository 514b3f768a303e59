"""Names of rows that the desk shows and that no model of ours names."""

from typing import Any

from django.apps import apps
from django.utils.translation import gettext_lazy as _


def name_models() -> None:
    """Name the links of many-to-many fields, and the app that locks out who guesses passwords."""
    for model in apps.get_models():
        for field in model._meta.local_many_to_many:
            name_links(field)
    apps.get_app_config("axes").verbose_name = _("Axes")


def name_links(field: Any) -> None:
    """Call the rows of a many-to-many table by the field and by what they lead to."""
    through = field.remote_field.through
    if through._meta.auto_created:
        through._meta.verbose_name = through._meta.verbose_name_plural = field.verbose_name
        there = field.m2m_reverse_field_name()
        through.__str__ = lambda link: str(getattr(link, there))
