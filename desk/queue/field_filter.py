"""A filter of a list as a field of the form beside it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from tickets.models import Ticket

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


class FieldFilter(admin.ListFilter):
    """A filter that is one field of the form beside the list."""

    template = "unfold/filters/filters_field.html"
    # As it stands in a sentence.
    title: "StrOrPromise"
    parameter_name = ""

    def __init__(
        self,
        request: HttpRequest,
        params: dict[str, list[str]],
        model: type[Model],
        model_admin: "admin.ModelAdmin[Any]",
    ) -> None:
        super().__init__(request, params, model, model_admin)
        given = params.pop(self.parameter_name, None)
        if given:
            self.used_parameters[self.parameter_name] = given[-1].strip()

    def has_output(self) -> bool:
        return True

    def value(self) -> str:
        return str(self.used_parameters.get(self.parameter_name, ""))

    def expected_parameters(self) -> list[str | None]:
        return [self.parameter_name]

    def field(self) -> forms.Field:
        raise NotImplementedError

    def choices(self, changelist: Any) -> Iterator[dict[str, Any]]:
        form = forms.Form({self.parameter_name: self.value()}, auto_id="filter-%s")
        form.fields[self.parameter_name] = self.field()
        yield {"form": form}

    def queryset(self, request: HttpRequest, queryset: QuerySet[Ticket]) -> QuerySet[Ticket]:
        return self.narrow(queryset, self.value()) if self.value() else queryset

    def narrow(self, tickets: QuerySet[Ticket], value: str) -> QuerySet[Ticket]:
        raise NotImplementedError
