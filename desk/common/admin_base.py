"""Base classes of the desk's admin pages."""

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import Field, Model, QuerySet
from django.forms import Field as FormField
from django.http import HttpRequest, HttpResponse
from django.utils.functional import cached_property

from core.values.spellings import plain_digits
from desk.common.generics import Paginator
from desk.common.scripts import NoRowScripts, OnlyUsedScripts

if TYPE_CHECKING:
    # Unfold's own annotations contradict Django's stubs: an option whose default is None may be
    # nothing else, and hooks return other types. These are Django's, with unfold's options.
    class ModelAdmin(admin.ModelAdmin[Any]):
        list_filter_submit: ClassVar[bool]
        list_fullwidth: ClassVar[bool]
        list_disable_select_all: ClassVar[bool]
        list_before_template: ClassVar[str | None]
        list_after_template: ClassVar[str | None]
        change_form_before_template: ClassVar[str | None]
        change_form_after_template: ClassVar[str | None]
        change_form_outer_before_template: ClassVar[str | None]
        change_form_outer_after_template: ClassVar[str | None]

        def extra_context(self, request: HttpRequest, row: Any) -> dict[str, Any]: ...

    class TabularInline(admin.TabularInline[Any, Any]):
        pass

else:
    from unfold import admin as unfold

    class ModelAdmin(OnlyUsedScripts, unfold.ModelAdmin):
        list_per_page = 25
        # Counting a table of millions would cost more than the rest of the page.
        show_full_result_count = False

        def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
            """Replace NUL, which PostgreSQL refuses, with U+FFFD, which no row contains."""
            if any("\x00" in value for _, values in request.GET.lists() for value in values):
                query = request.GET.copy()
                for name, values in request.GET.lists():
                    query.setlist(name, [value.replace("\x00", "\ufffd") for value in values])
                request.GET = query
            return super().get_changelist_instance(request)

        def get_search_results(
            self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
        ) -> tuple[QuerySet[Any], bool]:
            """Search with ASCII digits and composed marks, the form in which rows are stored."""
            return super().get_search_results(request, queryset, plain_digits(search_term))

        def extra_context(self, request: HttpRequest, row: Any) -> dict[str, Any]:
            """Return the context that the page of a row needs besides its fields."""
            return {}

        def render_change_form(
            self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
        ) -> HttpResponse:
            if kwargs.get("obj") is not None:
                context |= self.extra_context(request, kwargs["obj"])
            return super().render_change_form(request, context, *args, **kwargs)

    class TabularInline(NoRowScripts, unfold.TabularInline):
        pass


MOST_COUNTED = 1_000


class ShortPaginator(Paginator[Model]):
    """Paginator that stops counting at MOST_COUNTED, for tables of millions."""

    object_list: QuerySet[Model]

    @cached_property
    def count(self) -> int:
        return self.object_list[:MOST_COUNTED].count()


class NeverAdded:
    """Admin page or inline that adds no rows."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class NeverDeleted:
    """Admin page that deletes no rows."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ReadOnly(NeverAdded, NeverDeleted):
    """Admin page or inline on which nothing is added, changed or deleted."""

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ReadOnlyAdmin(ReadOnly, ModelAdmin):
    """Admin page for looking up rows of a table of any size."""

    show_facets = admin.ShowFacets.NEVER
    list_disable_select_all = True


# Without scripts nobody can add a row: this parameter of the address asks for empty ones.
ROWS_PARAMETER = "rows"
EMPTY_ROWS = 3


class LabelledInline(TabularInline):
    """Inline whose fields carry their label, for screen readers that miss the column headings."""

    def get_extra(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> int:
        extra: int = super().get_extra(request, obj, **kwargs)
        return EMPTY_ROWS if ROWS_PARAMETER in request.GET else extra

    def formfield_for_dbfield(
        self, db_field: "Field[Any, Any]", request: HttpRequest, **kwargs: Any
    ) -> FormField | None:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field is not None:
            field.widget.attrs.setdefault("aria-label", str(field.label))
        return field
