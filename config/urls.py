"""URLs: the two faces for companies (management and /ship/ paths), the desk, and probes."""

from django.conf import settings
from django.contrib import admin
from django.urls import include, path
from drf_spectacular.views import SpectacularSwaggerSplitView

from config import errors, pages
from config.guides import views as guides
from core.health import probes
from core.measures.metrics import metrics
from core.watch.readiness import readyz
from desk import urls as desk_urls
from shipments.api import urls as shipments_urls
from tickets.api import urls as tickets_urls

# The desk has no public site for a "view site" link.
admin.site.site_url = None

# Called here instead of at Django's start: workers do not need the desk's pages.
admin.autodiscover()

# No global may be called `app_name`: it would put every include of this module into a namespace.
tables, admin_app, admin_namespace = admin.site.urls
docs = SpectacularSwaggerSplitView.as_view(url_name="schema", throttle_classes=[])

urlpatterns = [
    path("", include("webhooks.api.urls")),
    path("", include("deliveries.api.urls")),
    path("", include("shipments.api.urls")),
    path("", include("tickets.api.urls")),
    path("", include("portal.urls")),
    path("admin/", include("desk.urls")),
    path("admin/", ([*desk_urls.table_pages, *tables], admin_app, admin_namespace)),
    path("healthz", probes.healthz),
    path("readyz", readyz),
    path("metrics", metrics),
    path("schema", pages.schema, name="schema"),
    path("docs", pages.only_to_read(docs), name="docs"),
    path("docs/guides", guides.index, name="guides"),
    path("docs/guides/<slug:slug>", guides.guide, name="guide"),
    path("docs/guides/clients/<path:path>", guides.client_file, name="client-file"),
    path("", pages.desk),
    path("admin", pages.desk),
]

if settings.ENVIRONMENT == "test":
    urlpatterns += [
        path("", include(shipments_urls.sandbox)),
        path("", include(tickets_urls.sandbox)),
    ]

handler400 = errors.bad_request
handler403 = errors.permission_denied
handler404 = errors.not_found
handler500 = errors.server_error
