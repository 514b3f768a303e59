"""Rows on which jobs fail, at the desk."""

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy

from core.models import FailedRow
from desk.common.admin_base import ReadOnlyAdmin, ShortPaginator
from desk.common.controls import foreign_column

# Pages of the kinds of rows.
PAGES = {
    "ticket": "admin:tickets_ticket_change",
    "delivery": "admin:deliveries_delivery_change",
    "webhook": "admin:webhooks_webhook_change",
    "storm": "admin:desk_storm_change",
}


@admin.register(FailedRow)
class FailedRowAdmin(ReadOnlyAdmin):
    """Failed rows. One is removed when its job succeeds, or a day after its last failure."""

    error_text = foreign_column("error")
    key_text = foreign_column("key")
    list_display = ("row", "job", "error_text", "times", "first_at", "last_at")
    list_display_links = None
    list_filter = ("job",)
    sortable_by = ()
    ordering = ("-last_at", "-pk")
    paginator = ShortPaginator
    fields = (
        "job",
        "kind",
        "key_text",
        "error_text",
        "times",
        "first_at",
        "last_at",
    )
    readonly_fields = fields

    @admin.display(description=gettext_lazy("row"))
    def row(self, failed: FailedRow) -> SafeString | str:
        """Return the row's name, as a link if it has a page; the page checks permissions."""
        if failed.kind not in PAGES:
            return str(failed)
        address = reverse(PAGES[failed.kind], args=[failed.key])
        return format_html('<a class="underline" href="{}">{}</a>', address, failed)
