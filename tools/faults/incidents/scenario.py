"""Plays incidents one after the other and judges that each was seen, and mended by its page."""

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

# Longer than any threshold that is a time, such as the two minutes of a late delivery.
SEEN_WITHIN_SECONDS = 200.0
OVER_WITHIN_SECONDS = 120.0


def incidents(rig: Rig, given: argparse.Namespace) -> Verdict:
    """Incidents from the alert to the end, by real rules, with the runbook's commands."""
    names = given.only.split(",")
    chosen = [each for each in INCIDENTS if not given.only or each.name in names]
    with small_disk(rig.place.files / "files") as files:
        rig.service.environment["FILES_DIR"] = str(files)
        for kind in ("worker", "web"):
            rig.service.start(kind)
        scene = Scene(rig, files)
        target = f"127.0.0.1:{rig.service.environment['PORT']}"
        with Watch(rig.place.files, target, given.shortened) as watch:
            scene.begin()
            played = []
            for each in chosen:
                figures = play(each, scene, watch, given.shortened)
                ended = scene.summary()
                figures |= {name: ended[name] for name in ("expected", "lost", "repeats")}
                figures["trouble"] = "; ".join(filter(None, [figures["trouble"], *broken(ended)]))
                played.append(figures)
        rig.service.stop(*rig.service.processes)
    troubles = [f"{each['incident']}: {each['trouble']}" for each in played if each["trouble"]]
    return {"shortened": given.shortened, "incidents": played}, troubles


def play(incident: Incident, scene: Scene, watch: Watch, times: float) -> dict[str, Any]:
    """What came of it. `seen_minutes` is what it would have taken with the rule's own `for`."""
    page = Page(incident.page, scene.rig.service)
    found: dict[str, Any] = {
        "incident": incident.name,
        "alert": incident.alert or "somebody writes",
        "runbook": incident.page,
        "trouble": "",
    }
    steps = incident.play(scene, page)
    before = watch.firing() if incident.alert else set()
    begun = time.monotonic()
    try:
        next(steps)
        if incident.alert:
            watch.wait_for(incident.alert, SEEN_WITHIN_SECONDS)
            seen = time.monotonic() - begun
            wait = patience(incident.alert)
            waited = shortened_for(wait, times) if wait else 0
            found["seen_minutes"] = round((seen + wait - waited) / 60, 1)
            found["firing"] = sorted(watch.firing() - before)
        began_to_mend = time.monotonic()
        next(steps, None)
        found["mended_minutes"] = round((time.monotonic() - began_to_mend) / 60, 1)
        if incident.alert:
            watch.wait_for(incident.alert, OVER_WITHIN_SECONDS, fires=False)
            found["quiet_minutes"] = round((time.monotonic() - began_to_mend) / 60, 1)
    except (NotMended, LookupError, TimeoutError) as trouble:
        found["trouble"] = str(trouble) or type(trouble).__name__
        # The next incident is to find the service well.
        with suppress(NotMended, LookupError, TimeoutError):
            next(steps, None)
    finally:
        steps.close()
    found["commands"] = page.done
    return found
