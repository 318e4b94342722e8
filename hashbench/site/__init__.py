"""The HTML page of a study: a folder to open in a browser, offline, and an index of such pages."""

from hashbench.site.build import write_page

__all__ = ["write_page"]
