from django.apps import AppConfig
from django.urls import register_converter

from companies.api.paths import IdConverter


class CompaniesConfig(AppConfig):
    name = "companies"

    def ready(self) -> None:
        register_converter(IdConverter, "id")
