"""English formats of times at the desk. The page names the time zone."""

DATE_FORMAT = "Y-m-d"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = "Y-m-d H:i"
SHORT_DATE_FORMAT = DATE_FORMAT
MONTH_DAY_FORMAT = "d M"
SHORT_DATETIME_FORMAT = DATETIME_FORMAT
