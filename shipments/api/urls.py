from django.urls import path

from shipments.api.views import GeneralTrack, WebhookTest

urlpatterns = [
    path("ship/generaltrack/", GeneralTrack.as_view()),
    path("ship/webhooktest/", WebhookTest.as_view()),
]
