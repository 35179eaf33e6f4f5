"""The Transformer block: what each part adds, what is missed without it, and what it costs."""

from seqviz.lessons.transformer.lesson import lesson as declared
from seqviz.ui.page.page_lesson import begin

lesson = begin(declared)
lesson.bench("stream")
lesson.prose("stream")
lesson.more("stream_more")
lesson.prose("steps")
lesson.bench("steps")
lesson.more("steps_more")
lesson.exercise("layer")
lesson.prose("account")
lesson.bench("account")
lesson.more("account_more")
lesson.more("equations")
lesson.prose("remove")
lesson.bench("remove")
lesson.more("remove_more")
with lesson.deeper("norms"):
    lesson.prose("norms")
    lesson.bench("norms")
    lesson.more("norms_more")
with lesson.deeper("masks"):
    lesson.prose("masks")
    lesson.bench("masks")
with lesson.deeper("pair"):
    lesson.prose("pair")
    lesson.bench("pair")
    lesson.more("pair_more")
with lesson.deeper("lens"):
    lesson.prose("lens")
    lesson.bench("lens")
    lesson.more("lens_more")
with lesson.deeper("induction"):
    lesson.prose("induction")
    lesson.bench("induction")
    lesson.more("induction_more")
with lesson.deeper("depths"):
    lesson.prose("depths")
    lesson.bench("depths")
    lesson.more("depths_more")
with lesson.deeper("bill"):
    lesson.prose("bill")
    lesson.bench("bill")
    lesson.more("bill_more")
lesson.code()
lesson.end()
