"""Group F: faults of receivers, their names and their certificates."""

from tools.faults.book.fault import Fault, in_tests

ENDS = "test_ends_in_time_whatever_the_receiver_does"
TAKES_STATUS = "test_takes_the_status_at_its_word"
UNTOLD = "test_says_why_there_is_no_answer"


def hostile(test: str, *habits: str) -> tuple[str, ...]:
    names = [f"{test}[{habit}]" for habit in habits]
    return tuple(in_tests("deliveries/test_hostile_receivers", *names))


def transport(*names: str) -> tuple[str, ...]:
    return tuple(in_tests("deliveries/test_transport", *names))


def tls(*names: str) -> tuple[str, ...]:
    return tuple(in_tests("deliveries/test_transport_tls", *names))


def guard(*names: str) -> tuple[str, ...]:
    return tuple(in_tests("deliveries/test_transport_guard", *names))


def engine(*names: str) -> tuple[str, ...]:
    return tuple(in_tests("deliveries/test_engine", *names))


def answers(*names: str) -> tuple[str, ...]:
    return tuple(in_tests("deliveries/test_answers", *names))


def resolver(*names: str) -> tuple[str, ...]:
    return tuple(in_tests("deliveries/test_resolver", *names))


ONLY_2XX = engine("test_takes_nothing_but_2xx_for_success")
RETRY_AFTER = (
    "test_takes_seconds_or_a_date",
    "test_leaves_the_schedule_alone_where_the_receiver_says_nothing_usable",
    "test_reads_any_retry_after_without_breaking",
    "test_ignores_retry_after_headers_that_contradict_each_other",
)
RECEIVERS = (
    Fault("F1", "nobody listens", transport("test_says_that_nobody_listens")),
    Fault(
        "F2",
        "packets are swallowed",
        transport("test_gives_up_early_where_packets_are_swallowed"),
    ),
    Fault("F3", "accepts and never answers", hostile(ENDS, "silence")),
    Fault(
        "F4",
        "resets the connection while we send",
        transport("test_says_that_the_connection_broke_while_we_were_sending"),
    ),
    Fault(
        "F5",
        "closes a kept connection as we use it again",
        transport(
            "test_delivers_where_the_receiver_has_closed_the_connection_meanwhile",
            "test_tries_again_only_where_a_used_connection_broke_without_a_byte",
        ),
    ),
    Fault("F6", "a byte of a header at a time", hostile(ENDS, "a header byte at a time")),
    Fault("F7", "a line of a header at a time", hostile(ENDS, "a header line at a time")),
    Fault("F8", "a byte of a body at a time", hostile(ENDS, "a body byte at a time")),
    Fault(
        "F9",
        "a body without end",
        (
            *hostile(ENDS, "endless body"),
            *answers("test_keeps_16_kib_of_the_body_and_breaks_off_at_the_next_byte"),
        ),
    ),
    Fault(
        "F10",
        "a body that unpacks to gigabytes",
        (*hostile(ENDS, "gzip bomb"), *hostile(TAKES_STATUS, "20 stacked encodings")),
    ),
    Fault(
        "F11",
        "a body of another length than told",
        (
            *hostile(ENDS, "body shorter than told"),
            *hostile(TAKES_STATUS, "two lengths", "negative length", "bad chunk size"),
        ),
    ),
    Fault("F12", "interim answers without end", hostile(ENDS, "endless 100", "endless 103")),
    Fault("F13", "103, then 200", hostile(TAKES_STATUS, "103, then 200")),
    Fault("F14", "101", hostile(UNTOLD, "101", "101, then 200")),
    Fault("F15", "a redirect", transport("test_follows_no_redirect")),
    Fault("F16", "a redirect to itself", hostile(ENDS, "redirect to itself")),
    Fault(
        "F17",
        "a redirect to a metadata service",
        (
            *transport("test_follows_no_redirect"),
            *engine("test_never_connects_to_a_forbidden_address"),
        ),
    ),
    Fault(
        "F18",
        "headers of ten megabytes, five thousand headers",
        hostile(ENDS, "5000 header lines", "a header of 10 MB"),
    ),
    Fault("F19", "no HTTP", hostile(UNTOLD, "SSH", "a TLS record", "NULs", "HTTP/9.9")),
    Fault(
        "F20",
        "odd statuses",
        (
            *hostile(UNTOLD, "status 000", "status 99", "status 2000", "status 2OO"),
            *hostile(TAKES_STATUS, "204", "226", "299"),
        ),
    ),
    Fault("F21", "HTTP/2 alone", tls("test_fails_where_the_server_speaks_http_2_alone")),
    Fault(
        "F22",
        "a certificate that nobody trusted has signed",
        tls(
            "test_refuses_a_certificate_nobody_trusted_has_signed",
            "test_never_falls_back_to_plain_http",
        ),
    ),
    Fault(
        "F23",
        "a certificate out of its time",
        tls("test_says_when_a_certificate_is_out_of_its_time"),
    ),
    Fault(
        "F24", "a certificate of another name", tls("test_refuses_a_certificate_of_another_name")
    ),
    Fault("F25", "an old version of TLS", tls("test_speaks_no_older_version_than_tls_1_2")),
    Fault("F26", "a handshake that stalls", tls("test_ends_in_time_where_the_handshake_stalls")),
    Fault(
        "F27",
        "asks for a certificate of ours",
        tls("test_has_no_certificate_of_its_own_to_show"),
    ),
    Fault("F28", "429 with Retry-After", engine("test_waits_as_long_as_a_busy_receiver_asks")),
    Fault(
        "F29",
        "a Retry-After without end",
        (
            *answers("test_reads_any_retry_after_without_breaking"),
            *in_tests("deliveries/test_limits", "test_retry_after_counts_up_to_24_hours"),
        ),
    ),
    Fault("F30", "a Retry-After that says nothing", answers(*RETRY_AFTER)),
    Fault("F31", "a Retry-After that is a date", answers("test_takes_seconds_or_a_date")),
    Fault(
        "F32",
        "503 with Retry-After",
        tuple(in_tests("deliveries/test_health", "test_retry_after_counts_of_429_and_503")),
    ),
    Fault("F33", "410", engine("test_pauses_a_webhook_that_is_gone")),
    Fault("F34", "400 to 415", ONLY_2XX),
    Fault("F35", "200 with a page that says otherwise", ONLY_2XX),
    Fault("F36", "cookies", transport("test_keeps_no_cookie")),
    Fault(
        "F37",
        "a name without an address",
        (
            *resolver("test_says_when_there_is_no_address"),
            *in_tests(
                "deliveries/test_name_servers",
                "test_tells_a_name_that_does_not_exist_from_one_that_cannot_be_looked_up",
            ),
        ),
    ),
    Fault(
        "F38",
        "a name server that takes too long",
        transport("test_ends_in_time_where_the_name_takes_too_long"),
    ),
    Fault(
        "F39",
        "a name that begins to lead inside",
        guard(
            "test_connects_no_more_when_a_name_begins_to_lead_inside",
            "test_vets_the_address_at_the_socket_whatever_the_resolver_says",
        ),
    ),
    Fault("F40", "one bad address among good", resolver("test_one_bad_address_spoils_the_name")),
    Fault(
        "F41",
        "the first address of a name is dead",
        transport("test_reaches_a_name_whose_first_address_is_dead"),
    ),
    Fault("F42", "many receivers are silent beside a good one", ("neighbours",)),
    Fault(
        "F43",
        "one webhook with a long backlog beside others",
        tuple(
            in_tests(
                "deliveries/test_claiming", "test_a_long_backlog_of_one_leaves_room_for_another"
            )
        ),
    ),
    Fault(
        "F44",
        "a receiver comes back to a long backlog",
        tuple(in_tests("deliveries/test_pace", "test_does_not_trample_a_small_receiver")),
    ),
    Fault(
        "F45",
        "a receiver comes and goes",
        (
            *in_tests(
                "deliveries/test_catching_up", "test_the_first_success_pulls_retries_forward"
            ),
            *in_tests("deliveries/test_recording", "test_a_success_makes_a_webhook_well"),
        ),
    ),
    Fault(
        "F46",
        "slow but good",
        transport("test_delivers_to_a_receiver_that_is_slow_but_good"),
    ),
    Fault(
        "F47",
        "answers before it has read our body",
        transport("test_takes_an_answer_that_comes_before_our_body_is_out"),
    ),
    Fault(
        "F48",
        "a test delivery that is to find out who listens inside",
        tuple(
            in_tests(
                "shipments/test_webhooktest_failures",
                "test_an_address_that_is_forbidden_reads_like_one_that_is_not_there",
                "test_has_the_tightest_rate_limit",
            )
        ),
    ),
)
