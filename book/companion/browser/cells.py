"""Run a notebook's cells in the page's Python; a cell shows what it would show in Jupyter."""

import ast
import base64
import contextlib
import io
import sys
import traceback
from html import escape
from types import SimpleNamespace

from companion.browser.declared import check_values, parse_parameters
from companion.browser.numbers import marked

_SCOPE = {}
_LONGEST = 20_000  # characters shown of one output


def begin(declarations="", given=()):
    """Forget the last run; check the parameters given as text, and hold them for this one."""
    _SCOPE.clear()
    _SCOPE["__name__"] = "__main__"
    try:
        values = check_values(parse_parameters(declarations), dict(given))
    except (TypeError, ValueError) as error:
        return {"problem": str(error)}
    exec(declarations, _SCOPE)
    _SCOPE.update(values)
    return {}


def run(source, published=None, tolerance=None):
    """Run one cell and return its outputs, and how it compares with what is published."""
    printed, outputs = io.StringIO(), []
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            outputs = _shown(_value(source))
    except BaseException as error:  # whatever a reader writes into the cell
        outputs = [{"kind": "error", "text": _sentence(error)}]
    answer = {"outputs": outputs, "failed": any(each["kind"] == "error" for each in outputs)}
    if text := printed.getvalue().strip():
        html = escape(text)
        if published:
            allowed = SimpleNamespace(**{"abs": 0.0, "rel": 0.0} | (tolerance or {}))
            html, answer["moved"] = marked(published.strip(), text, allowed)
        outputs.insert(0, {"kind": "printed", "html": html[:_LONGEST]})
    return answer


def _value(source):
    tree = ast.parse(source, "cell")
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), _SCOPE)
    if last is None or source.rstrip().endswith(";"):
        return None
    return eval(compile(ast.Expression(last.value), "cell", "eval"), _SCOPE)


def _shown(value):
    outputs = [{"kind": "picture", "data": picture} for picture in _pictures()]
    if value is None or type(value).__module__.startswith("matplotlib."):
        return outputs
    if hasattr(value, "_repr_html_") and not hasattr(value, "fit"):  # estimators draw a diagram
        return [{"kind": "html", "html": value._repr_html_()}, *outputs]
    print(repr(value))
    return outputs


def _pictures():
    pyplot = sys.modules.get("matplotlib.pyplot")
    for number in pyplot.get_fignums() if pyplot else ():
        held = io.BytesIO()
        pyplot.figure(number).savefig(held, format="png", dpi=110, bbox_inches="tight")
        yield base64.b64encode(held.getvalue()).decode()
    if pyplot:
        pyplot.close("all")


def _sentence(error):
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == "cell"]
    where = f" (line {lines[-1]})" if lines else ""
    return f"{type(error).__name__}{where}: {error}"
