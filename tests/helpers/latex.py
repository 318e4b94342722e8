"""Compiling LaTeX where it is installed with all that papers need."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

FILES = ("IEEEtran.cls", "booktabs.sty", "graphicx.sty")


def missing() -> str:
    """Return what is not installed, or nothing."""
    if shutil.which("pdflatex") is None or shutil.which("kpsewhich") is None:
        return "pdflatex"
    found = subprocess.run(["kpsewhich", *FILES], capture_output=True, text=True, check=False)
    present = {Path(line).name for line in found.stdout.splitlines()}
    return ", ".join(name for name in FILES if name not in present)


needs_latex = pytest.mark.skipif(bool(missing()), reason=f"LaTeX: {missing()} is not installed")


def compile_paper(folder: Path, body: str) -> None:
    """Compile a two-column paper; nothing may be wrong with it or stick out of its column."""
    (folder / "paper.tex").write_text(
        r"\documentclass[journal]{IEEEtran}\usepackage{booktabs,graphicx}\begin{document}Text."
        f"\n{body}\n" + r"\clearpage\end{document}",
        encoding="utf-8",
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    log = done.stdout.decode(errors="replace")
    wrong = [line for line in log.splitlines() if line.startswith(("!", "l."))]
    assert done.returncode == 0, "\n".join(wrong)
    assert "too wide" not in log
    assert not re.findall(r"Overfull \\hbox", log)
