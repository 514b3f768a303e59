from celery import shared_task
from django.utils.module_loading import import_string


@shared_task(time_limit=60)
def count_list(company_id: int, parameters: dict[str, str]) -> None:
    """Count and cache a company's long list with these query parameters."""
    # Imported lazily: a worker that counts no lists does not load REST framework.
    import_string("tickets.api.recounting.recount")(company_id, parameters)
