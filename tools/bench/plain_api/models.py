from django.db import models


class PlainTicket(models.Model):
    """Row that the plain view inserts."""

    company_id = models.BigIntegerField()
    type_id = models.IntegerField()
    comments = models.TextField(blank=True)
    data = models.TextField(null=True)  # noqa: DJ001 - as the service's own
    shipment_id = models.BigIntegerField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        # The app is not in INSTALLED_APPS: the scenario creates the table.
        app_label = "bench"
        indexes = [models.Index(fields=["company_id", "-created_at"], name="plain_newest")]

    def __str__(self) -> str:
        return f"plain ticket {self.pk}"
