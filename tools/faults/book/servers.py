"""Groups B to E: faults of the broker, PostgreSQL, clocks, and events."""

from tools.faults.book.fault import Fault, in_tests

BROKER = (
    Fault("B1", "the broker is down when something is published", ("silent-broker",)),
    Fault("B2", "the broker hangs", ("broker-frozen",)),
    Fault("B3", "the broker is flushed in the middle of a backlog", ("flushed-broker",)),
    Fault("B4", "the broker comes back empty", ("silent-broker",)),
    Fault("B5", "the broker's connections are cut again and again", ("broker-drops",)),
    Fault("B6", "the broker is full and refuses all writes", ("broker-refuses",)),
    Fault(
        "B7",
        "the same message is delivered several times",
        tuple(
            in_tests("deliveries/test_claiming", "test_never_hands_a_delivery_to_two"),
        ),
    ),
    Fault(
        "B8",
        "a message that is to be delivered later is delivered twice",
        tuple(in_tests("test_fault_catalogue", "test_no_task_is_sent_for_later")),
    ),
    Fault(
        "B9",
        "the broker holds the ids of rows that are gone",
        why_not="messages carry no ids: a task reads what there is to do from the database",
    ),
    Fault("B10", "the broker's password is changed", ("broker-locks-out",)),
    Fault("B11", "the broker is a RabbitMQ, and hangs", ("rabbitmq-frozen",)),
)

DATABASE = (
    Fault("C1", "PostgreSQL is restarted under load", ("restarted-database",)),
    Fault(
        "C2",
        "all connections are terminated",
        tuple(in_tests("walks/test_faults", "test_a_database_that_drops_everybody_loses_nothing")),
    ),
    Fault("C3", "PostgreSQL stands still", ("database-frozen", "stalled-database")),
    Fault("C4", "the primary takes no more writes", ("database-read-only", "failover")),
    Fault(
        "C5",
        "a deadlock",
        tuple(
            in_tests(
                "shipments/test_ingest_in_trouble",
                "test_runs_that_meet_the_same_rows_in_opposite_order_do_not_harm_each_other",
                "test_tries_again_after_a_deadlock_or_a_lost_connection",
            )
        ),
    ),
    Fault(
        "C6",
        "a serialization failure",
        why_not="no transaction asks for more than READ COMMITTED, where there is none",
    ),
    Fault("C7", "no connection is left", ("connections-exhausted",)),
    Fault("C8", "the disk is full", ("full-disk",)),
    Fault("C9", "dead rows pile up behind a long transaction", ("long-transaction",)),
    Fault(
        "C10",
        "a notification is lost",
        why_not="nothing listens for any: loops look by themselves once a second",
    ),
    Fault(
        "C11",
        "equal tickets at the same time",
        tuple(
            in_tests(
                "tickets/test_duplicates",
                "test_opens_one_of_sixteen_equal_tickets_that_arrive_together",
            )
        ),
    ),
    Fault("C12", "a commit succeeds and nobody hears of it", ("lost-answers",)),
)

TIME = (
    Fault("D1", "a worker's clock is two hours fast", ("skewed-clocks",)),
    Fault("D2", "a worker's clock is two hours slow", ("skewed-clocks",)),
    Fault("D3", "a worker's clock steps back during an attempt", ("skewed-clocks",)),
    Fault(
        "D4",
        "PostgreSQL's clock steps ahead",
        why_not="one machine has one clock: PostgreSQL cannot have another than its workers",
    ),
    Fault(
        "D5",
        "the clocks go forward and back",
        ("tests/tickets/test_calendars.py",),
    ),
    Fault(
        "D6",
        "the time of a signature",
        tuple(in_tests("deliveries/test_engine", "test_sends_the_stored_bytes_signed")),
    ),
)

PAYLOADS = (
    Fault("E1", "a payload that cannot be made", ("poison",)),
    Fault("E2", "a delivery that kills whoever sends it", ("poison", "crash-loop")),
    Fault(
        "E3",
        "a payload of a megabyte",
        tuple(
            in_tests(
                "deliveries/test_transport", "test_sends_the_path_and_a_large_body_as_they_are"
            )
        ),
    ),
    Fault(
        "E4",
        "a webhook is paused between claim and request",
        tuple(
            in_tests(
                "deliveries/test_two_companies",
                "test_a_paused_company_goes_on_in_order_once_resumed",
            )
        ),
    ),
    Fault("E5", "a URL is changed between two attempts", ("poison",)),
    Fault(
        "E6",
        "a secret is rotated between two attempts",
        tuple(
            in_tests(
                "deliveries/test_two_companies", "test_a_rotated_secret_signs_from_its_time_on"
            )
        ),
    ),
    Fault(
        "E7",
        "a delivery token that no header can carry",
        (
            *in_tests(
                "webhooks/test_register", "test_refuses_delivery_tokens_that_no_header_can_carry"
            ),
            *in_tests("deliveries/test_transport_guard", "test_sends_no_header_that_could_be_two"),
        ),
    ),
    Fault(
        "E8",
        "the environment names a proxy, a netrc and other authorities",
        tuple(
            in_tests(
                "deliveries/test_transport",
                "test_reads_no_proxy_and_no_netrc_from_the_environment",
            )
        ),
    ),
)

SERVERS = (*BROKER, *DATABASE, *TIME, *PAYLOADS)
