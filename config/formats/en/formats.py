"""How the desk writes a time in English. The page names the zone."""

DATE_FORMAT = "Y-m-d"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = "Y-m-d H:i"
SHORT_DATE_FORMAT = DATE_FORMAT
MONTH_DAY_FORMAT = "d M"
SHORT_DATETIME_FORMAT = DATETIME_FORMAT
