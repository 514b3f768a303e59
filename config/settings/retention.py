"""Retention of each kind of data in days; 0 means for ever (core.retention)."""

from config.settings.base import env

KEEP_DAYS = {
    # The guides promise companies thirty days of these two.
    "deliveries": env.int("KEEP_DELIVERIES_DAYS", default=30),
    "tracking": env.int("KEEP_TRACKING_DAYS", default=30),
    # Contents of files, counted from the decision of their ticket.
    "files": env.int("KEEP_FILES_DAYS", default=730),
    "notifications": env.int("KEEP_NOTIFICATIONS_DAYS", default=30),
    "sign_ins": env.int("KEEP_SIGN_INS_DAYS", default=90),
    "desk_log": env.int("KEEP_DESK_LOG_DAYS", default=365),
    # The database refuses to delete entries younger than 90 days.
    "audit": env.int("KEEP_AUDIT_DAYS", default=730),
}
