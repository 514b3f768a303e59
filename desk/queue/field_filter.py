"""Base classes for filters that are fields of the form next to a list."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.text import capfirst
from django.utils.translation import gettext
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget, UnfoldAdminSelectWidget

from desk.common.generics import StrOrPromise
from tickets.models import Ticket


def chosen_values(texts: Iterable[str]) -> list[str]:
    """Return each value once; `a=1&a=2` and `a=1,2` mean the same."""
    parts = (part.strip() for text in texts for part in text.split(","))
    return list(dict.fromkeys(filter(None, parts)))


class FieldFilter(admin.ListFilter):
    """A filter that is one field of the form next to the list."""

    template = "unfold/filters/filters_field.html"
    # Lower case, for the middle of a sentence.
    title: StrOrPromise
    parameter_name = ""

    def __init__(
        self,
        request: HttpRequest,
        params: dict[str, list[str]],
        model: type[Model],
        model_admin: "admin.ModelAdmin[Any]",
    ) -> None:
        super().__init__(request, params, model, model_admin)
        values = params.pop(self.parameter_name, None)
        if values:
            self.used_parameters[self.parameter_name] = self.read(values)

    def read(self, values: list[str]) -> str:
        return values[-1].strip()

    def problem(self) -> str:
        """Return why the value is invalid, which makes the list empty; "" if it is valid."""
        return ""

    def has_output(self) -> bool:
        return True

    def value(self) -> str:
        return str(self.used_parameters.get(self.parameter_name, ""))

    def expected_parameters(self) -> list[str | None]:
        return [self.parameter_name]

    def field(self) -> forms.Field:
        raise NotImplementedError

    def bound(self) -> str | list[str]:
        return self.value()

    def choices(self, changelist: Any) -> Iterator[dict[str, Any]]:
        form = forms.Form({self.parameter_name: self.bound()}, auto_id="filter-%s")
        form.fields[self.parameter_name] = self.field()
        yield {"form": form}

    def queryset(self, request: HttpRequest, queryset: QuerySet[Ticket]) -> QuerySet[Ticket]:
        if self.problem():
            return queryset.none()
        return self.narrow(queryset, self.value()) if self.value() else queryset

    def narrow(self, tickets: QuerySet[Ticket], value: str) -> QuerySet[Ticket]:
        raise NotImplementedError


class SelectFilter(FieldFilter):
    """A filter by one of the offered values; without a value it does not filter."""

    def offered(self) -> Iterable[tuple[str, str]]:
        raise NotImplementedError

    def field(self) -> forms.Field:
        return forms.ChoiceField(
            label=capfirst(self.title),
            required=False,
            choices=[("", gettext("All")), *self.offered()],
            widget=UnfoldAdminSelectWidget(),
        )


class ChoicesFilter(FieldFilter):
    """A filter by one or more values of a field."""

    def options(self) -> Sequence[tuple[int, StrOrPromise]]:
        raise NotImplementedError

    def read(self, values: list[str]) -> str:
        return ",".join(chosen_values(values))

    def bound(self) -> list[str]:
        return chosen_values([self.value()])

    def problem(self) -> str:
        valid = {str(number) for number, _ in self.options()}
        unknown = [value for value in self.bound() if value not in valid]
        text = gettext("The filter “%(filter)s” does not know %(values)s.")
        names = {"filter": self.title, "values": ", ".join(unknown)}
        return text % names if unknown else ""

    def field(self) -> forms.Field:
        return forms.MultipleChoiceField(
            label=capfirst(self.title),
            required=False,
            choices=self.options(),
            widget=UnfoldAdminCheckboxSelectMultipleWidget(),
        )

    def narrow(self, tickets: QuerySet[Ticket], value: str) -> QuerySet[Ticket]:
        return tickets.filter(**{f"{self.parameter_name}__in": chosen_values([value])})
