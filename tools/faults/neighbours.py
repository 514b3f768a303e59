"""Bad receivers of other companies beside a healthy one, as the bench `neighbours` judges them."""

import argparse
import json
import signal
import subprocess
import sys

from tools.dev.processes import tether
from tools.faults.rig import Rig
from tools.faults.service import ROOT
from tools.faults.verdict import Verdict


def neighbours(rig: Rig, given: argparse.Namespace) -> Verdict:
    """A healthy company beside silent, slow, refusing and nameless receivers, on a small scale."""
    command = [sys.executable, "-m", "tools.bench", "neighbours"]
    sizes = ["--scale", str(given.scale), "--seconds", str(given.seconds)]
    done = subprocess.run(
        [*command, *sizes],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=tether(signal.SIGTERM),
    )
    figures = [line for line in done.stdout.splitlines() if line.startswith("{")]
    found = json.loads(figures[-1]) if figures else {}
    troubles = [
        f"p99 beside {row['words']}: {row['beside']['p99_ms']} ms, at most {row['at_most_ms']}"
        for row in found.get("rows", [])
        if not row["ok"]
    ]
    if done.returncode and not troubles:
        troubles = done.stderr.splitlines()[-3:] or ["it ended without figures"]
    return found, troubles
