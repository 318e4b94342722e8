"""What follows from stored codes: scores, statistics, comparisons, printed papers.

Nothing here draws or writes for people; that is the business of printing and of the page.
"""
