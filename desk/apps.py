from django.apps import AppConfig

from desk.common.model_names import translate_model_names


class DeskConfig(AppConfig):
    name = "desk"

    def ready(self) -> None:
        translate_model_names()
