"""Steps of a bench as the server sees them: what a chip, a commit and a link set."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest

from testing.protocol import HAND, ProtocolClient, run_async

BENCH, PHI = "ar.process", "ar.process.phi"
CHIPS = f"{BENCH}.step-chips"


def query_of(student: ProtocolClient) -> dict[str, str]:
    settings = parse_qs(student._query.lstrip("?"))
    return {key: values[0] for key, values in settings.items() if key.startswith(f"{BENCH}.")}


async def press(student: ProtocolClient, payload: object) -> None:
    await student._tell(student.widgets[CHIPS], "step", payload)
    assert student.errors == []


def test_step_sets_controls_and_address(server):
    async def visit():
        async with ProtocolClient(server.url, "ar_fitting") as student:
            await student.open()
            await press(student, {"number": 3})
            first = query_of(student), student.widgets[CHIPS].told
            await press(student, {"number": 1})
            return first, (query_of(student), student.widgets[CHIPS].told)

    (first, data), (second, later) = run_async(visit())
    assert first == {f"{BENCH}.shuffle": "true", f"{BENCH}.step": "3"}
    assert (data["current"], data["done"]) == (3, [3])
    assert data["sentence"]["number"] == 3
    assert second == {PHI: "-0.8", f"{BENCH}.step": "1"}
    assert (later["current"], later["done"]) == (1, [1, 3])


NUMBERS = (0, 4, -1, 1.0, True, "1", None, [1])


@pytest.mark.parametrize("payload", [{}, [], None, 1, *({"number": item} for item in NUMBERS)])
def test_step_rejects_other_payloads(server, payload):
    async def visit():
        async with ProtocolClient(server.url, "ar_fitting") as student:
            await student.open()
            await press(student, payload)
            return query_of(student)

    assert run_async(visit()) == {}


@pytest.mark.parametrize(("values", "step", "expected"), [
    ({PHI: "-0.8"}, 1, {PHI: "-0.8", f"{BENCH}.step": "1"}),
    ({PHI: "-0.8"}, None, {PHI: "-0.8"}),  # a hand that comes by
    ({PHI: "-0.7"}, 1, {PHI: "-0.7"}),
    ({PHI: "-0.8"}, [7], {PHI: "-0.8"}),
])  # fmt: skip
def test_step_of_commit_is_in_address(server, values, step, expected):
    async def visit():
        async with ProtocolClient(server.url, "ar_fitting") as student:
            await student.open()
            drag = student.widgets[f"{BENCH}{HAND}"]
            signature = drag.told["layout_signature"]
            commit = {"values": values, "layout_signature": signature, "number": 1, "step": step}
            await student._tell(drag, "commit", commit)
            assert student.charts == 0
            assert student.errors == []
            return query_of(student)

    assert run_async(visit()) == expected


def test_step_ends_with_another_commit(server):
    async def visit():
        async with ProtocolClient(server.url, "ar_fitting") as student:
            await student.open()
            await press(student, {"number": 1})
            await student.move(PHI, 0.3)
            return query_of(student)

    assert run_async(visit()) == {PHI: "0.3"}
