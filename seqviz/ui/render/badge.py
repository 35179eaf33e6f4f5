"""What the badge under a figure says: where its numbers come from, how long they took, on what."""

from __future__ import annotations

from seqviz.core.i18n import Text, duration
from seqviz.lessons.framework.output import Output, Provenance
from seqviz.models import device, placement, pretrained


def badge(origin: Provenance, output: Output, text: Text) -> str:
    """In words."""
    label = text(f"frame.{origin.kind}")
    if origin.kind == "browser":
        return label
    cores = f" {text('frame.cores')}"  # shipped results, and the name of a CPU, say it in English
    if origin.kind != "live":
        return f"{label} · {origin.note.replace(' cores', cores)}"
    where = output.device
    if output.reads:  # it may have left its device while this bench was drawn
        read = pretrained.load(output.reads)
        where = placement.named(read.device, read.note)
    for why in device.NOTES.values():
        where = where.replace(f"[{why}]", f"({text(f'frame.{why}')})")
    where = where.replace(" cores", cores)
    return f"{label} · {duration(output.seconds)} · {where}"
