from celery import shared_task
from django.utils.module_loading import import_string


@shared_task(time_limit=60)
def count_list(company_id: int, sent: dict[str, str]) -> None:
    """Count a company's long list, whose filters are `sent`, for the next who asks for it."""
    # By name: a worker that counts none has no use for REST framework.
    import_string("tickets.api.recounting.recount")(company_id, sent)
