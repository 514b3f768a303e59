from django.contrib import admin
from django.http import HttpRequest

from companies.models import ApiToken, Company
from desk.common.admin_base import ModelAdmin, TabularInline


class TokenInline(TabularInline):
    """What may be known of a token. Issuing one is a command: it is shown once, to one person."""

    model = ApiToken
    fields = ("prefix", "created_at", "expires_at", "revoked_at", "last_used_at")
    readonly_fields = fields
    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Company | None = None) -> bool:
        return False


@admin.register(Company)
class CompanyAdmin(ModelAdmin):
    list_display = ("name", "active", "plan", "contact_email", "created_at")
    list_filter = ("active",)
    search_fields = ("name",)
    fields = ("name", "active", "plan", "contact_email")
    inlines = (TokenInline,)
    list_per_page = 25
    show_full_result_count = False

    def has_delete_permission(self, request: HttpRequest, obj: Company | None = None) -> bool:
        return False
