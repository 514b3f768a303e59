from celery import shared_task

from desk.reports import dashboard
from desk.storms import replies, services


@shared_task
def watch_for_storms() -> None:
    services.watch()
    replies.go_on_with_all()


@shared_task
def answer_storm(reply_id: int) -> None:
    replies.go_on(reply_id)


@shared_task
def count_figures() -> None:
    dashboard.count_ahead()
