from django.urls import path

from shipments.api.views import GeneralTrack, Guide, WebhookTest

urlpatterns = [
    path("ship/generaltrack/", GeneralTrack.as_view()),
    path("guide/<path:tracking_number>", Guide.as_view()),
    path("ship/webhooktest/", WebhookTest.as_view()),
]
