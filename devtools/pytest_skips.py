"""A pytest plugin: the run's end says what was skipped and why, and `--whole` lets nothing skip."""

from collections import Counter

import pytest

# Reasons that `--whole` accepts: programs that no package of Debian brings.
UNOBTAINABLE: frozenset[str] = frozenset()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--whole", action="store_true", help="fail when a test is skipped")


def reasons(config: pytest.Config) -> Counter[str]:
    """How many tests were skipped for which reason."""
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
