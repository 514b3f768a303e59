"""Pytest plugin: report skipped tests and reasons at the end; `--whole` forbids skips.

Tests marked `whole` run only with `--whole`, as they take many minutes. Those marked `slow` also
run with `--slow`, which runs nothing else, and if their file is named.
"""

from collections import Counter

import pytest

# Reason of tests that need packages from npm.
NO_REGISTRY = "npm's registry cannot be reached"
NO_REGISTRY_SAYS = (
    "ENOTFOUND",
    "EAI_AGAIN",
    "ECONNREFUSED",
    "ECONNRESET",
    "ETIMEDOUT",
    "ERR_SOCKET_TIMEOUT",
    "ENETUNREACH",
    "EHOSTUNREACH",
    "E403",
    "E407",
    "E502",
    "E503",
    "CERT",
)
# Reasons that `--whole` accepts: they cannot be solved by a package of Debian.
UNOBTAINABLE = frozenset({NO_REGISTRY})
ONLY_WHOLE = "takes minutes: ./dev test --whole"
ONLY_SLOW = "slow: ./dev test --slow"
# Options that run the tests with a mark, and the reason of the skip without them.
MARKS = {"whole": (("--whole",), ONLY_WHOLE), "slow": (("--slow", "--whole"), ONLY_SLOW)}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--whole", action="store_true", help="run all, and fail on a skip")
    parser.addoption("--slow", action="store_true", help="run the tests marked slow and no others")


def pytest_configure(config: pytest.Config) -> None:
    for mark, (_, why) in MARKS.items():
        config.addinivalue_line("markers", f"{mark}: {why}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--slow"):
        return
    others = [item for item in items if not item.get_closest_marker("slow")]
    items[:] = [item for item in items if item.get_closest_marker("slow")]
    config.hook.pytest_deselected(items=others)


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark, (options, why) in MARKS.items():
        if not item.get_closest_marker(mark) or any(map(item.config.getoption, options)):
            continue
        if mark == "whole" or not is_file_named(item):
            pytest.skip(why)


def is_file_named(item: pytest.Item) -> bool:
    """Return True if an argument names the test's file, or a test of it."""
    here = item.config.invocation_params.dir
    return item.path in {(here / each.partition("::")[0]).resolve() for each in item.config.args}


def reasons(config: pytest.Config) -> Counter[str]:
    """Count skipped tests by reason."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    reports = reporter.stats.get("skipped", []) if reporter else []
    return Counter(reason(report) for report in reports)


def reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.getoption("--whole") and set(reasons(session.config)) - UNOBTAINABLE:
        session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    skipped = reasons(config)
    if not skipped:
        return
    whole = config.getoption("--whole")
    terminalreporter.section("skipped, and --whole allows no skip" if whole else "skipped")
    for why, many in skipped.most_common():
        terminalreporter.write_line(f"{many:5}  {why}")
