from celery import shared_task

from desk.reports import dashboard
from desk.storms import replies, services


@shared_task
def watch_for_storms() -> None:
    services.watch()
    replies.continue_all_replies()


@shared_task
def answer_storm(reply_id: int) -> None:
    replies.continue_reply(reply_id)


@shared_task
def count_figures() -> None:
    dashboard.count_ahead()
