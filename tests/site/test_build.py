"""The page's script has all its parts."""

from importlib import resources

from hashbench.site.build import SCRIPTS


def test_every_script_is_part_of_the_page(page):
    assets = resources.files("hashbench.site") / "assets"
    names = sorted(each.name for each in assets.iterdir() if each.name.endswith(".js"))
    assert sorted(SCRIPTS) == names
    text = (page.parent / "page.js").read_text(encoding="utf-8")
    for name in names:
        assert (assets / name).read_text(encoding="utf-8") in text
