"""Bad receivers of other companies next to a healthy one, judged by the bench `neighbours`."""

import argparse
import json
import signal
import subprocess
import sys

from tools.dev.processes import tether
from tools.faults.rig import Rig
from tools.faults.service import ROOT
from tools.faults.verdict import Verdict


def neighbours(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Run the bench on a small scale: silent, slow, refusing and nameless receivers."""
    command = [sys.executable, "-m", "tools.bench", "neighbours"]
    sizes = ["--scale", str(args.scale), "--seconds", str(args.seconds)]
    process = subprocess.run(
        [*command, *sizes],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=tether(signal.SIGTERM),
    )
    figures = [line for line in process.stdout.splitlines() if line.startswith("{")]
    figures_read = json.loads(figures[-1]) if figures else {}
    troubles = [
        f"p99 beside {row['words']}: {row['beside']['p99_ms']} ms, at most {row['at_most_ms']}"
        for row in figures_read.get("rows", [])
        if not row["ok"]
    ]
    if process.returncode and not troubles:
        troubles = process.stderr.splitlines()[-3:] or ["it ended without figures"]
    return figures_read, troubles
