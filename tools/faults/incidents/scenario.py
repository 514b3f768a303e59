"""Scenario of incidents, each of which must fire its alert and be solved by its page."""

import argparse
import time
from contextlib import suppress
from typing import Any

from tools.faults.incidents.catalogue import INCIDENTS, Incident
from tools.faults.incidents.following import NotMended, Page
from tools.faults.incidents.plays import Scene, small_disk
from tools.faults.incidents.watching import Watch, patience, shortened_for
from tools.faults.rig import Rig
from tools.faults.verdict import Verdict, broken

# Longer than any rule's threshold of time, such as the two minutes of a late delivery.
SEEN_WITHIN_SECONDS = 200.0
OVER_WITHIN_SECONDS = 120.0


def incidents(rig: Rig, args: argparse.Namespace) -> Verdict:
    """Play incidents from the alert to the end, with real rules and the runbooks' commands."""
    names = args.only.split(",")
    chosen = [each for each in INCIDENTS if not args.only or each.name in names]
    with small_disk(rig.place.files / "files") as files:
        rig.service.environment["FILES_DIR"] = str(files)
        for kind in ("worker", "web"):
            rig.service.start(kind)
        scene = Scene(rig, files)
        target = f"127.0.0.1:{rig.service.environment['PORT']}"
        with Watch(rig.place.files, target, args.shortened) as watch:
            scene.begin()
            played = []
            for each in chosen:
                figures = play(each, scene, watch, args.shortened)
                ended = scene.summary()
                figures |= {name: ended[name] for name in ("expected", "lost", "repeats")}
                figures["trouble"] = "; ".join(filter(None, [figures["trouble"], *broken(ended)]))
                played.append(figures)
        rig.service.stop(*rig.service.processes)
    troubles = [f"{each['incident']}: {each['trouble']}" for each in played if each["trouble"]]
    return {"shortened": args.shortened, "incidents": played}, troubles


def play(incident: Incident, scene: Scene, watch: Watch, times: float) -> dict[str, Any]:
    """Play an incident; return its figures, with `seen_minutes` by the rule's own `for`."""
    page = Page(incident.page, scene.rig.service)
    figures: dict[str, Any] = {
        "incident": incident.name,
        "alert": incident.alert or "somebody writes",
        "runbook": incident.page,
        "trouble": "",
    }
    steps = incident.play(scene, page)
    before = watch.firing() if incident.alert else set()
    started = time.monotonic()
    try:
        next(steps)
        if incident.alert:
            watch.wait_for(incident.alert, SEEN_WITHIN_SECONDS)
            firing_after = time.monotonic() - started
            wait = patience(incident.alert)
            waited = shortened_for(wait, times) if wait else 0
            figures["seen_minutes"] = round((firing_after + wait - waited) / 60, 1)
            figures["firing"] = sorted(watch.firing() - before)
        began_to_mend = time.monotonic()
        next(steps, None)
        figures["mended_minutes"] = round((time.monotonic() - began_to_mend) / 60, 1)
        if incident.alert:
            watch.wait_for(incident.alert, OVER_WITHIN_SECONDS, fires=False)
            figures["quiet_minutes"] = round((time.monotonic() - began_to_mend) / 60, 1)
    except (NotMended, LookupError, TimeoutError) as trouble:
        figures["trouble"] = str(trouble) or type(trouble).__name__
        # Repair the service for the next incident.
        with suppress(NotMended, LookupError, TimeoutError):
            next(steps, None)
    finally:
        steps.close()
    figures["commands"] = page.executed
    return figures
