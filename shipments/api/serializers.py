from rest_framework import serializers

from core.api.bodies import Body, Text
from webhooks.api.serializers import TargetURL

LONGEST_NUMBER = 100
MOST_NUMBERS = 50


class TrackShipments(Body):
    trackingNumbers = serializers.ListField(
        child=Text(max_length=LONGEST_NUMBER), min_length=1, max_length=MOST_NUMBERS
    )


class SendSample(Body):
    tracking_number = Text(max_length=LONGEST_NUMBER)
    webhook_url = TargetURL(help_text="HTTPS URL that will receive the sample.")
