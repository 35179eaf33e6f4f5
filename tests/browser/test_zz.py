import time
from test_browser_attention import page, loaded, field, click, link, REAL, APART, MASKS, ABLATE, expect
def test_sm(page):
    lesson = page(real__model="smollm2")
    field(lesson, f"{REAL}.decoder").fill("one two three four five six " * 110)
    t=time.monotonic()
    field(lesson, f"{REAL}.decoder").press("Enter")
    lesson.page.get_by_text("512 tokens").first.wait_for(timeout=120000); print("REAL", time.monotonic()-t)
    t1=time.monotonic()
    lesson.by_key("at.by_hand.stage.later").get_by_role("button").click()
    expect(lesson.slider("at.by_hand.stage")).to_have_value("2", timeout=60_000); print("SLIDER", time.monotonic()-t1)
    lesson.page.wait_for_timeout(500)
    for b in (APART, MASKS, ABLATE):
        lesson.chart(b).wait_for(timeout=120000); print(b, time.monotonic()-t)
    lesson.rest(); print("rest", time.monotonic()-t)
    t=time.monotonic(); click(lesson, REAL, 12, 4); print("click tile", time.monotonic()-t, link(lesson).keys())
    lesson.page.wait_for_timeout(800); lesson.rest(); print("all at rest", time.monotonic()-t)
    t=time.monotonic();click(lesson, ABLATE, 3, 3); print("switch", time.monotonic()-t)
