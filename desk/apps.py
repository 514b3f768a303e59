from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from desk.common.model_names import name_models


class DeskConfig(AppConfig):
    name = "desk"
    verbose_name = _("Desk")

    def ready(self) -> None:
        name_models()
