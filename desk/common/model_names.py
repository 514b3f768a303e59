"""Names of rows that the desk shows but whose models are not ours."""

from typing import Any

from django.apps import apps
from django.utils.translation import gettext_lazy as _


def name_models() -> None:
    """Name the links of many-to-many fields, and the app of the lockout (django-axes)."""
    for model in apps.get_models():
        for field in model._meta.local_many_to_many:
            name_links(field)
    apps.get_app_config("axes").verbose_name = _("Axes")


def name_links(field: Any) -> None:
    """Name the table of a many-to-many field after the field, and its rows after their targets."""
    through = field.remote_field.through
    if through._meta.auto_created:
        through._meta.verbose_name = through._meta.verbose_name_plural = field.verbose_name
        there = field.m2m_reverse_field_name()
        through.__str__ = lambda link: str(getattr(link, there))
