"""Rows to fill in below a form of the desk."""

from typing import Any

from django.db.models import Field
from django.forms import Field as FormField
from django.http import HttpRequest
from unfold.admin import TabularInline


class NamedInline(TabularInline):
    """Its fields stand under headings; here each says its name to who cannot see those."""

    def formfield_for_dbfield(
        self, db_field: Field, request: HttpRequest, **kwargs: Any
    ) -> FormField | None:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field is not None:
            field.widget.attrs.setdefault("aria-label", str(field.label))
        return field
