"""A hand that rests on what it sees: the page hears of the value, and draws nothing."""

from __future__ import annotations

import json
import re

from testing.protocol import HAND, ProtocolClient, run_async

PHI = "ar.process.phi"


async def moved(student: ProtocolClient, key: str, value: object) -> int:
    """Move a slider as a hand does; how many charts the page draws when it rests."""
    assert await student.picture(key, value) == 200
    await student.move(key, value)
    return student.charts


async def told(student: ProtocolClient, values: object, shape: object) -> int:
    """Say what no browser of ours says; how many charts the page draws."""
    drag = student.widgets[f"ar.process{HAND}"]
    await student._tell(drag, "commit", {"values": values, "layout_signature": shape, "number": 7})
    return student.charts


def test_commit_updates_url_and_next_render_without_redraw(server):
    async def visit() -> tuple[int, dict[str, str], str]:
        async with ProtocolClient(server.url, "ar_fitting") as student:
            await student.open()
            rendered = await moved(student, PHI, 0.31)
            await student.press("ar.process.code")
            assert student.errors == []
            return rendered, student._query, _source(student)

    figure, address, source = run_async(visit())
    assert figure == 0
    assert f"{PHI}=0.31" in address
    assert json.loads(source)["live"]["values"][PHI] == "0.31"


def _source(student: ProtocolClient) -> str:
    return student.widgets["ar.process.chart"].message.bytes.partition(b"\n")[0].decode()


def test_commit_redraws_dependent_benches(server):
    async def visit() -> list[str]:
        messages = []
        async with ProtocolClient(server.url, "vanishing_gradients") as student:
            await student.open()
            await student.scroll("gates")
            for value in (0.71, 0.72):
                assert await moved(student, "vg.reach.gain", value) == 0
                assert await student.rest(visible=True) > 0
                messages.append(student.widgets["vg.gates.chart"].message.bytes)
            assert student.errors == []
        return messages

    first, second = run_async(visit())
    assert first != second


def test_commit_sets_value_in_notebook(server):
    async def visit() -> tuple[int, bytes]:
        async with ProtocolClient(server.url, "ar_fitting") as student:
            await student.open()
            await student.whole()
            assert await moved(student, PHI, 0.31) == 0
            status = await student.download("ar.notebook")
            assert student.errors == []
            return status, student.body

    status, body = run_async(visit())
    assert status == 200
    code = ["".join(cell["source"]) for cell in json.loads(body)["cells"]]
    assert any(re.search(r"path = simulate\(\s*\(0\.31,\)", cell) for cell in code)


def test_commit_redraws_on_changed_layout_or_invalid_values(server):
    """Another order has other sliders; what is said of it may be anything."""

    async def visit() -> list[int]:
        async with ProtocolClient(server.url, "ar_fitting") as student:
            await student.open()
            shape = student.widgets[f"ar.process{HAND}"].told["layout_signature"]
            rendered = [
                await told(student, {PHI: "0.31"}, shape),
                await told(student, {PHI: "0.32"}, "another"),
                await told(student, {"ar.process.order": "2"}, shape),
                await told(student, {PHI: "99"}, shape),
                await told(student, {PHI: "nan"}, shape),
                await told(student, {PHI: None}, shape),
                await told(student, [PHI], None),
            ]
            assert student.errors == []
            return rendered

    assert run_async(visit()) == [0, 1, 1, 1, 1, 0, 1]
