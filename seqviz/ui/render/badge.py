"""Badge under a figure: source of its numbers, compute time and device."""

from __future__ import annotations

from seqviz.core.i18n import Text, duration
from seqviz.lessons.framework.output import Output, Provenance
from seqviz.models import device, placement, pretrained


def badge(origin: Provenance, output: Output, text: Text) -> str:
    """Return the text of the badge."""
    label = text(f"frame.{origin.kind}")
    if origin.kind == "browser":
        return label
    cores = f" {text('frame.cores')}"  # shipped results and CPU names have the English word
    if origin.kind != "live":
        return f"{label} · {origin.note.replace(' cores', cores)}"
    where = output.device
    if output.reads:  # the model may have moved to another device meanwhile
        read = pretrained.load(output.reads)
        where = placement.named(read.device, read.note)
    for why in device.NOTES.values():
        where = where.replace(f"[{why}]", f"({text(f'frame.{why}')})")
    where = where.replace(" cores", cores)
    return f"{label} · {duration(output.seconds)} · {where}"
