"""Group A: the service's processes are killed, stopped, duplicated or starved."""

from tools.faults.book.fault import Fault, in_tests

PROCESSES = (
    Fault(
        "A1",
        "the web process is killed after a commit, before anybody is rung for",
        ("web-killed", "silent-broker"),
    ),
    Fault("A2", "a worker is killed before its claim is committed", ("lost-answers",)),
    Fault("A3", "a worker is killed between its claim and the connection", ("kills",)),
    Fault("A4", "a worker is killed during a TLS handshake", ("killed-by-receiver",)),
    Fault("A5", "a worker is killed in the middle of a request", ("killed-by-receiver",)),
    Fault(
        "A6",
        "a worker is killed after the receiver's 200, before it is recorded",
        ("killed-by-receiver",),
    ),
    Fault("A7", "a worker is told to stop while its result is being committed", ("lost-answers",)),
    Fault("A8", "only the parent of a worker's processes is killed", ("parts-killed",)),
    Fault("A9", "one child of a worker is killed, as for want of memory", ("parts-killed",)),
    Fault("A10", "a worker stands still with requests in flight, and goes on", ("frozen-worker",)),
    Fault("A11", "clean restarts under load", ("restarts",)),
    Fault("A12", "a worker is told to stop at once, by SIGQUIT", ("parts-killed",)),
    Fault(
        "A13",
        "the version before works while the database is migrated, and after it",
        (
            "upgrade",
            *in_tests("upgrades/test_rules", "test_no_migration_disturbs_the_version_before"),
        ),
    ),
    Fault(
        "A14",
        "the process of a worker that runs the jobs is killed",
        tuple(in_tests("walks/test_sweeps", "test_jobs_go_on_where_a_scheduler_is_killed")),
    ),
    Fault(
        "A15",
        "two workers find the same job due",
        tuple(in_tests("core/test_jobs", "test_a_second_run_leaves_it_to_the_first")),
    ),
    Fault("A16", "a storm: one process after the other is killed under load", ("storm",)),
    Fault("A17", "a power cut: everything is killed at once, PostgreSQL too", ("power-cut",)),
    Fault(
        "A18",
        "no file descriptors are left",
        tuple(
            in_tests(
                "deliveries/test_transport_guard",
                "test_calls_a_lack_of_descriptors_our_own_fault",
            )
        ),
    ),
    Fault("A19", "memory grows with what is sent", ("memory",)),
)
