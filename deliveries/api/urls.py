from django.urls import path

from deliveries.api import views

urlpatterns = [
    path("webhooks/<id:webhook_id>/deliveries", views.WebhookDeliveries.as_view()),
    path("webhooks/<id:webhook_id>/events", views.WebhookEvents.as_view()),
    path("webhooks/<id:webhook_id>/health", views.WebhookHealth.as_view()),
    path("webhooks/<id:webhook_id>/recover", views.Recover.as_view()),
    path("webhooks/<id:webhook_id>/test", views.WebhookTrial.as_view()),
    path("deliveries/<uuid:delivery_id>", views.OneDelivery.as_view()),
    path("deliveries/<uuid:delivery_id>/redeliver", views.Redeliver.as_view()),
]
