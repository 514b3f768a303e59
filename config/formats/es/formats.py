"""Spanish formats of times and numbers at the desk, as written in Mexico."""

DATE_FORMAT = "d/m/Y"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = "d/m/Y H:i"
SHORT_DATE_FORMAT = DATE_FORMAT
MONTH_DAY_FORMAT = "d b"
SHORT_DATETIME_FORMAT = DATETIME_FORMAT
# Mexico writes 4,850.50.
DECIMAL_SEPARATOR = "."
THOUSAND_SEPARATOR = ","
NUMBER_GROUPING = 3
