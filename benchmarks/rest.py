"""Processor time of the server for one press of a slider, all in.

One student of `testing.protocol` moves a slider to a value that nobody has asked for and lets go:
the picture of that value (`picture`), and what Streamlit does when the hand rests (`rest`). The
page is drawn down to this bench; what builds on it further down is not redrawn. The process is the
server's own: loop, threads, compression, messages and the address are in it.

`python -m benchmarks.rest [--presses 50]`
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Iterator

from testing.protocol import ProtocolClient
from testing.server import Server, serve

GOALS = {"picture": 5.0, "press": 12.0}  # milliseconds
WARM_UP = 5
AFTER_START = 40.0  # seconds; a server loads torch after its first answers
AFTER_VISIT = 8.0  # seconds; what a new visit leaves is collected within (seqviz.core.gc_tuning)
# lesson, key of the slider, its values
MOVED: list[tuple[str, str, Iterator[float]]] = [
    ("ar_fitting", "ar.process.phi", (round(-0.9 + 0.01 * k, 2) for k in range(180))),
    ("gates", "ga.force.f", (round(0.2 + 0.004 * k, 3) for k in range(180))),
    ("gates", "ga.watch.step", iter(range(1, 148))),
    ("vanishing_gradients", "vg.reach.gain", (round(0.4 + 0.01 * k, 2) for k in range(110))),
]


async def press(server: Server, page: str, key: str, values: Iterator[float], presses: int) -> dict:
    """Milliseconds of the server's processor time a press: `picture`, `rest` and both."""
    used = {"picture": 0.0, "rest": 0.0}
    async with ProtocolClient(server.url, page, cookies={}) as student:
        await student.open()
        bench = key.split(".")[1]
        if f"{key}.slider" not in student.widgets:
            await student.scroll(to=bench)
        for number in range(WARM_UP + presses):
            if number == WARM_UP:
                await asyncio.sleep(AFTER_VISIT)
                used = dict.fromkeys(used, 0.0)
            value = next(values)
            before = server.cpu_seconds()
            if (status := await student.picture(key, value)) != 200:
                raise RuntimeError(f"{key} = {value}: {status}")
            between = server.cpu_seconds()
            await student.move(key, value)
            await asyncio.sleep(0.1)  # what the server still does for it
            used["picture"] += between - before
            used["rest"] += server.cpu_seconds() - between
    result = {name: round(1e3 * seconds / presses, 2) for name, seconds in used.items()}
    return result | {"press": round(sum(result.values()), 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--presses", type=int, default=50, help="measured, of each slider")
    presses = parser.parse_args().presses
    print(f"{'milliseconds of processor':28}{'picture':>9}{'rest':>9}{'press':>9}")
    result = {}
    with serve() as server:
        asyncio.run(press(server, *MOVED[0], presses=1))
        time.sleep(AFTER_START)
        for page, key, values in MOVED:
            item = asyncio.run(press(server, page, key, values, presses))
            print(f"{key:28}" + "".join(f"{value:9.2f}" for value in item.values()))
            result[key] = item
    print("goals: " + ", ".join(f"{name} <= {goal:g}" for name, goal in GOALS.items()))
    print(json.dumps({"name": "rest", "presses": presses, "sliders": result}))


if __name__ == "__main__":
    main()
