"""``hashbench new``: a working plugin file to start from."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path
from string import Template

import click

from hashbench.core.errors import HashbenchError, describe_os_error, unknown
from hashbench.plugins.registry import discover

KINDS = ("method", "dataset", "report")


@click.command("new")
@click.argument("kind", metavar="method|dataset|report")
@click.argument("name")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="The file; NAME.py if not given."
)
@click.option("--torch", "neural", is_flag=True, help="A neural method, on PyTorch.")
def new_command(kind: str, name: str, output: Path | None, neural: bool) -> None:
    """Write a working plugin file to start from."""
    if kind not in KINDS:
        raise unknown("kind of plugin", kind, KINDS)
    if neural and kind != "method":
        raise HashbenchError(f"--torch: found a {kind}; allowed: a method")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise HashbenchError(
            f"plugin name {name!r}: allowed: small letters, digits and hyphens, a letter first"
        )
    taken = discover().of(f"{kind}s").get(name)
    if taken is not None:
        raise HashbenchError(f"{kind} {name!r} exists already: {taken.path}")
    path = output or Path(f"{name.replace('-', '_')}.py")
    if path.exists():
        raise HashbenchError(f"{path} exists already; give another with -o")
    words = name.split("-")
    template_name = f"{kind}-torch" if neural else kind
    template = resources.files("hashbench.resources") / "templates" / f"{template_name}.py.txt"
    text = Template(template.read_text()).substitute(
        name=name, title=name.upper(), class_name="".join(word.title() for word in words)
    )
    try:
        path.write_text(text)
    except OSError as error:
        raise HashbenchError(f"cannot write {describe_os_error(error, path)}") from error
    click.echo(f"wrote {path}; next:")
    if kind == "method":
        click.echo(f"  hashbench check {path}")
        click.echo(f"  hashbench run --plugin {path} -m {name},edsh,random")
    elif kind == "dataset":
        click.echo(f"  hashbench check {path}")
        click.echo(f"  hashbench run --plugin {path} -d {name}")
    else:
        click.echo(f"  hashbench report OUT {name} --plugin {path}")
