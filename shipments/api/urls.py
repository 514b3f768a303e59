from django.urls import path

from shipments.api.feed_views import PlatformFeed
from shipments.api.sandbox import PlayedEvents, PlayedShipments
from shipments.api.views import GeneralTrack, Guide, WebhookTest

urlpatterns = [
    path("platform/feed", PlatformFeed.as_view()),
    path("ship/generaltrack/", GeneralTrack.as_view()),
    path("guide/<text:tracking_number>", Guide.as_view()),
    path("ship/webhooktest/", WebhookTest.as_view()),
]
# Served in the test environment only (decision N15).
sandbox = [
    path("test/shipments", PlayedShipments.as_view()),
    path("test/shipments/<id:shipment_id>/events", PlayedEvents.as_view()),
]
