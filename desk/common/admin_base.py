"""What the desk's admin pages of several rooms share."""

from typing import Any

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Field
from django.forms import Field as FormField
from django.http import HttpRequest
from django.utils.functional import cached_property
from unfold.admin import ModelAdmin, TabularInline

MOST_COUNTED = 1_000


class ShortPaginator(Paginator):
    """Counts no further than MOST_COUNTED: a table of millions is searched, not leafed through."""

    @cached_property
    def count(self) -> int:
        return self.object_list[:MOST_COUNTED].count()


class ReadOnly:
    """For an admin page or an inline: nothing is added, changed or deleted on it."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ReadOnlyAdmin(ReadOnly, ModelAdmin):
    """A table to look things up in, however many rows it has."""

    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    list_per_page = 25
    list_disable_select_all = True


class NamedInline(TabularInline):
    """Its fields stand under headings; here each says its name to who cannot see those."""

    def formfield_for_dbfield(
        self, db_field: Field, request: HttpRequest, **kwargs: Any
    ) -> FormField | None:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field is not None:
            field.widget.attrs.setdefault("aria-label", str(field.label))
        return field
