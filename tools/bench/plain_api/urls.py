from django.urls import include, path

from tools.bench.plain_api import views

urlpatterns = [
    path("", include("config.urls")),
    path("plain/tickets", views.Tickets.as_view()),
    path("plain/tickets/<int:pk>", views.OneTicket.as_view()),
    path("plain/webhooks", views.Webhooks.as_view()),
]
