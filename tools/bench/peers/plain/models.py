from django.db import models


class Webhook(models.Model):
    url = models.URLField()
    secret = models.CharField(max_length=64)

    def __str__(self) -> str:
        return self.url


class Delivery(models.Model):
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE)
    body = models.TextField()
    state = models.CharField(max_length=20, default="waiting", db_index=True)
    attempts = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"delivery {self.pk}"


class Attempt(models.Model):
    delivery = models.ForeignKey(Delivery, on_delete=models.CASCADE)
    started_at = models.DateTimeField()
    duration_ms = models.PositiveIntegerField()
    status = models.PositiveIntegerField(null=True)
    answer = models.TextField()

    def __str__(self) -> str:
        return f"attempt {self.pk}"
