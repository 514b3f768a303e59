from django.db import models


class Parcel(models.Model):
    number = models.IntegerField()
    status = models.CharField(max_length=50)
    description = models.TextField()

    def __str__(self) -> str:
        return f"parcel {self.number}"
