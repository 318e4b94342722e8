"""The HTML page of a study: a folder to open in a browser, offline, and an index of such pages."""
