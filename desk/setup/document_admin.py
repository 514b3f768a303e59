"""Admin page of required documents, for leads."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from core.data.reading_order import ReadingOrder
from core.values.texts import is_blank
from desk.common.admin_base import ModelAdmin
from desk.common.controls import isolate_text
from desk.common.generics import ModelForm
from tickets.models import RequiredDocument


class RequiredDocumentForm(ModelForm[RequiredDocument]):
    class Meta:
        model = RequiredDocument
        fields = ("type", "carrier_name", "name")

    def clean_name(self) -> str:
        name = " ".join(self.cleaned_data["name"].split())
        if is_blank(name):
            raise ValidationError(gettext("Enter a name."))
        return name

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        same = RequiredDocument.objects.exclude(pk=self.instance.pk).filter(
            type=cleaned.get("type"),
            carrier_name__iexact=cleaned.get("carrier_name", ""),
            name__iexact=cleaned.get("name", ""),
        )
        if same.exists():
            self.add_error("name", gettext("This document is required already."))
        return cleaned


@admin.register(RequiredDocument)
class RequiredDocumentAdmin(ModelAdmin):
    form = RequiredDocumentForm
    list_display = ("name", "about", "carrier")
    list_display_links = ("name",)
    list_filter = ("type",)
    list_select_related = ("type",)
    search_fields = ("name", "carrier_name")
    fields = ("name", ("type", "carrier_name"))
    list_per_page = 50
    show_facets = admin.ShowFacets.NEVER

    @admin.display(description=_("ticket type"), ordering="type")
    def about(self, document: RequiredDocument) -> str:
        return str(document.type) if document.type else gettext("any")

    @admin.display(description=_("carrier"), ordering=ReadingOrder("carrier_name"))
    def carrier(self, document: RequiredDocument) -> str:
        return isolate_text(document.carrier_name) or gettext("any")
