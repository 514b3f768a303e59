from django.urls import path

from shipments.api.feed_views import PlatformFeed
from shipments.api.views import GeneralTrack, Guide, WebhookTest

urlpatterns = [
    path("platform/feed", PlatformFeed.as_view()),
    path("ship/generaltrack/", GeneralTrack.as_view()),
    path("guide/<text:tracking_number>", Guide.as_view()),
    path("ship/webhooktest/", WebhookTest.as_view()),
]
