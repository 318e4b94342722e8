"""The page: one folder to look at in a browser, offline, made of what the store holds."""

from hashbench.site.build import write_page

__all__ = ["write_page"]
