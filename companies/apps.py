from django.apps import AppConfig
from django.urls import register_converter

from companies.api.paths import IdConverter, TextConverter


class CompaniesConfig(AppConfig):
    name = "companies"

    def ready(self) -> None:
        register_converter(IdConverter, "id")
        register_converter(TextConverter, "text")
