from django.urls import path

from webhooks.api import views

urlpatterns = [
    path("webhook-types", views.WebhookTypes.as_view()),
    path("webhooks", views.Webhooks.as_view()),
    path("webhooks/<id:webhook_id>", views.OneWebhook.as_view()),
    path("webhooks/<id:webhook_id>/secret", views.WebhookSecret.as_view()),
]
