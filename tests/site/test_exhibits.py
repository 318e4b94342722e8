"""The page is there before its figures are."""

import re

from hashbench.site.exhibits import publish


def test_the_page_can_be_looked_at_before_figures_are_drawn(hand_made, registry):
    for seed in range(2):
        hand_made.add(method="edsh", seed=seed)
        hand_made.add(method="cca", seed=seed)
    results = hand_made.results(registry)
    seen = {}

    def message(page):
        seen["page"] = page
        seen["text"] = page.read_text()
        seen["figures"] = list(page.parent.glob("*.svg"))

    page = publish(results, message)
    assert seen["page"] == page
    assert seen["figures"] == []
    assert "<table" in seen["text"]
    count = int(re.search(r"(\d+) figures", seen["text"])[1])
    text = page.read_text()
    assert f"{count} figures" not in text
    assert len(set(re.findall(r'<img src="([^"]+\.svg)"', text))) == count > 3
    assert len(list(page.parent.glob("*.svg"))) == count
