from celery import shared_task

from desk import dashboard, storm_replies, storms


@shared_task
def watch_for_storms() -> None:
    storms.watch()
    storm_replies.go_on_with_all()


@shared_task
def answer_storm(reply_id: int) -> None:
    storm_replies.go_on(reply_id)


@shared_task
def count_figures() -> None:
    dashboard.count_ahead()
