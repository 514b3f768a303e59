from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.module_loading import import_string
from django.utils.translation import gettext_lazy as _


class CompaniesConfig(AppConfig):
    name = "companies"
    verbose_name = _("Companies")

    def ready(self) -> None:
        # Imported by name, as it needs models, which are not loaded when this module is imported.
        note_origin = import_string("companies.restoring.note_first_origin")
        post_migrate.connect(note_origin, sender=self)
