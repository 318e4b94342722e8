r"""Write formulas of docstrings in LaTeX, for MathJax on the pages of methods.

Docstrings have formulas as plain text, which terminals and editors show: ``||X_m - V U_m'||^2``.
The notation is small: ``_m`` and ``_{m != l}`` are indices, ``'`` is the transpose, ``^2`` and
``^-1`` are powers, ``x^`` and ``x~`` are marked letters, Greek letters are written out, and other
words are text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

GREEK = re.compile("alpha|beta|gamma|delta|eta|theta|lambda|mu|rho|sigma|omega|Pi")
FUNCTIONS = {
    "sum": r"\sum",
    "min": r"\min",
    "max": r"\max",
    "exp": r"\exp",
    "log": r"\log",
    "cos": r"\cos",
}
OPERATORS = re.compile("argmin|tr|diag|sgn|mse|mean|sigmoid|KL|Lap")
SIGNS = {"!=": r"\neq", ">=": r"\geq", "<=": r"\leq", "->": r"\to", "o": r"\circ", "in": r"\in"}

#: Names of two letters that are words; others of this length are symbols.
SHORT_WORDS = frozenset(["is", "in", "of", "or", "by", "to", "at", "no", "on"])

_TOKEN = re.compile(
    r"""(?P<space>\ {2,})
      | (?P<norm>\|\|)
      | (?P<bar>\|)
      | (?P<sign>!=|>=|<=|->|(?<=\ )[~o](?=\ )|\bin\b(?!\ [a-z]{2}))
      | (?P<marked>[A-Za-z][\^~](?=[\s,)\]]))
      | (?P<words>(?!sum|min|mean)[a-z]{3,}_[a-z]{3,}|\bit(?=\ is\b))
      | (?P<name>[A-Za-z]+(?P<digits>\d*))
      | (?P<power>\^(?:-?\w|(?=\()))
      | (?P<index>_(?:\{[^}]*\}|[A-Za-z0-9]+(?:,[a-z]+)?))
      | (?P<transpose>')
      | (?P<brace>[{}])
      | (?P<hash>[#%&$\\])
      | (?P<other>.)""",
    re.VERBOSE,
)


def latex(formula: str) -> str:
    r"""Return a formula of one or several lines in LaTeX.

    Examples
    --------
    >>> print(latex("sum_m ||X_m - V U_m'||^2"))
    \sum_{m} \lVert X_{m} - V U_{m}^{\top}\rVert^{2}
    >>> print(latex("R'R = I, B in {-1, +1}"))
    R^{\top}R = I, B \in \{-1, +1\}
    >>> print(latex("min a1 + eta_0   over all rows"))
    \min a_{1} + \eta_{0} \quad \text{over all rows}
    """
    lines = formula.strip("\n").splitlines()
    text = "\n".join(line.rstrip() for line in lines)
    done = "".join(_join([*_converted(text)]))
    if len(lines) == 1:
        return done
    rows = r" \\".join(f"\n& {row.strip()}" for row in done.splitlines())
    return rf"\begin{{aligned}}{rows}" + "\n" + r"\end{aligned}"


def _converted(text: str) -> Iterator[str]:
    """Yield the parts of a formula in LaTeX."""
    text = re.sub(r"\((\w) \|\| (\w)\)", r"(\1 \\Vert \2)", text)  # a divergence, not a norm
    norms = bars = 0
    position = 0
    while position < len(text):
        if text[position] == "\n":
            yield "\n"
            position += 1
            continue
        if text.startswith(r"\Vert", position):
            yield r"\Vert"
            position += 5
            continue
        match = _TOKEN.match(text, position)
        assert match is not None
        position, token, kind = match.end(), match[0], match.lastgroup
        if kind == "digits":
            kind = "name"
        if kind == "space":
            yield r" \quad "
        elif kind == "norm":
            norms += 1
            yield r"\lVert " if norms % 2 else r"\rVert"
        elif kind == "bar":
            bars += 1
            yield r"\lvert " if bars % 2 else r"\rvert"
        elif kind == "sign":
            yield SIGNS.get(token, r"\propto")
        elif kind == "marked":
            yield rf"\{'hat' if token[1] == '^' else 'tilde'}{{{token[0]}}}"
        elif kind == "words":  # of a parameter
            yield rf"\text{{{token}}}".replace("_", r"\_")
        elif kind == "name":
            yield from _name(token, match["digits"])
        elif kind == "power" and token != "^":
            yield f"^{{{token[1:]}}}"
        elif kind == "power":  # of an expression in brackets
            end = _closing(text, position)
            yield f"^{{{latex(text[position + 1 : end])}}}"
            position = end + 1
        elif kind == "index":
            yield f"_{{{latex(token[1:].strip('{}'))}}}"
        elif kind == "transpose":
            yield r"^{\top}"
        elif kind in ("brace", "hash"):
            yield f"\\{token}"
        else:
            yield token


def _closing(text: str, opening: int) -> int:
    """Return the place of the bracket that closes the one at a place."""
    depth = 0
    for place in range(opening, len(text)):
        depth += (text[place] == "(") - (text[place] == ")")
        if not depth:
            return place
    return len(text)


def _name(token: str, digits: str) -> Iterator[str]:
    """Yield a letter, a Greek letter, a function or a word."""
    name = token.removesuffix(digits) if digits else token
    if GREEK.fullmatch(name):
        yield f"\\{name}"
    elif name in FUNCTIONS:
        yield FUNCTIONS[name]
    elif OPERATORS.fullmatch(name):
        yield rf"\operatorname{{{name}}}"
    elif len(name) == 1:
        yield name
    elif len(name) == 2 and name not in SHORT_WORDS:
        yield rf"\mathit{{{name}}}"
    else:
        yield rf"\text{{{name}}}"
    if digits:
        yield f"_{{{digits}}}"


def _join(parts: list[str]) -> Iterator[str]:
    """Yield parts with adjacent words in one text, a single space between words and symbols."""
    text = "".join(parts)
    text = re.sub(r"(\\text\{[^}]*)\} a (?=\\text)", r"\1 a} ", text)  # the article
    while (joined := re.sub(r"(\\text\{[^}]*)\} \\text\{", r"\1 ", text)) != text:
        text = joined
    text = re.sub(r"(?<!quad)(?<=[^\s{]) (\\text\{)", r"\\ \1", text)
    yield re.sub(r"(\\text\{[^}]*\}) (?=[^\s\\]|\\[a-zA-Z])(?!\\quad)", r"\1\\ ", text)
