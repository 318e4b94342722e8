"""How results look on paper and in a terminal: style, figures, formats of tables, files.

Called by reports, by the page and by the commands.
"""
