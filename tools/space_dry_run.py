"""Run the Dockerfile's steps without a container engine, then visit the app.

    tools/space_dry_run.sh [--quick] [--build-arg NAME=VALUE] [--keep FOLDER]

A scratch folder takes the place of the image's /home/user. The only variables taken from this
environment are those that configure downloads by pip; as root, the steps run as an unprivileged
user (uid 1000). Steps: install, bake the models, start without the hub, the image's health check,
the first lesson in Chromium, SIGTERM. Not emulated: the base image, its `useradd`, and process
isolation.

--quick uses the packages of this Python and the models of this machine's cache instead of
installing and downloading them, and a free port instead of 7860. The last line of output is JSON.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from seqviz.content import catalog
from testing.chromium import MARKS, NoChromiumError, chromium
from testing.server import free_port
from tools import dockerfile
from tools.container import PORT, ROOT, Box, ContainerError

PATIENCE = 120  # startup timeout in seconds, as the image's --start-period


@contextlib.contextmanager
def running(box: Box) -> Iterator[tuple[subprocess.Popen[bytes], float]]:
    """Yield the app's process once the image's health check passes, and the startup seconds."""
    if box.run(box.health, build=False)[0] == 0:
        raise ContainerError(f"Something else answers on port {box.port}.")
    log = box.home.parent / "server.log"
    with log.open("wb") as output:
        begun = time.monotonic()
        process = box.start(box.command, output.fileno(), build=False)
        try:
            while box.run(box.health, build=False)[0]:
                if process.poll() is not None or time.monotonic() > begun + PATIENCE:
                    raise ContainerError(
                        f"The app did not start:\n{log.read_text('utf-8')[-3000:]}"
                    )
            yield process, time.monotonic() - begun
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()


def look(url: str) -> float:
    """Open the app at `/` and the first lesson; return the seconds until its chart is drawn."""
    slug = catalog.LESSONS[0].slug
    with chromium() as browser:
        page = browser.new_page()
        page.set_default_timeout(1000 * PATIENCE)
        page.goto(url)
        page.locator("h1").wait_for()
        begun = time.monotonic()
        page.locator(f"a[href^='{slug}?']").first.click()
        page.wait_for_url(f"**/{slug}*")
        page.locator(MARKS).first.wait_for(state="attached")
        return time.monotonic() - begun


def megabytes(folder: Path) -> float:
    """Return the size of a folder in MB, without the targets of links."""
    return sum(p.lstat().st_size for p in folder.rglob("*") if not p.is_symlink()) / 1e6


def build_and_look(box: Box) -> dict[str, object]:
    """Run all steps, visit the app, and return the measurements."""
    seconds: dict[str, float] = {}
    for step in dockerfile.steps((ROOT / "Dockerfile").read_text("utf-8")):
        begun = time.monotonic()
        box.do(step)
        seconds[f"{step.name} {step.text[:60]}"] = time.monotonic() - begun
        print(f"{time.monotonic() - begun:8.1f} s  {step.name} {step.text[:80]}", flush=True)
    with running(box) as (process, started):
        owner = Path(f"/proc/{process.pid}").stat().st_uid
        first = look(f"http://127.0.0.1:{box.port}/")
        process.terminate()
        begun = time.monotonic()
        process.wait(10)
        stopped = time.monotonic() - begun
    parts = {p.name: round(megabytes(p)) for p in sorted(box.home.iterdir()) if not p.is_symlink()}
    return {
        "name": "space",
        "quick": box.quick,
        "uid": owner,
        "build_s": round(sum(seconds.values()), 1),
        "healthy_s": round(started, 1),
        "first_lesson_s": round(first, 2),
        "stop_s": round(stopped, 2),
        "exit": process.returncode,
        "mb": parts,
    }


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return 0 when every step succeeds."""
    parser = argparse.ArgumentParser(
        prog="tools/space_dry_run.sh", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--quick", action="store_true", help="use local packages and models")
    parser.add_argument("--build-arg", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--keep", type=Path, help="new folder, kept afterwards")
    chosen = parser.parse_args(arguments)
    with contextlib.ExitStack() as stack:
        if chosen.keep is None:
            position = Path(
                stack.enter_context(tempfile.TemporaryDirectory(prefix="seqviz-space-"))
            )
        else:
            position = chosen.keep.resolve()
            position.mkdir(parents=True)
        box = Box(position, str(free_port()) if chosen.quick else PORT, chosen.quick)
        box.arguments |= dict(pair.split("=", 1) for pair in chosen.build_arg)
        try:
            measured = build_and_look(box)
        except (ContainerError, NoChromiumError) as error:
            print(error, file=sys.stderr)
            return 1
    print(json.dumps(measured))
    return 0


if __name__ == "__main__":
    sys.exit(main())
