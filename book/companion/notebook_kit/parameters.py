"""The ``parameters`` cell of a notebook: read it, print it as a card, check new values against it.

Each line of the cell declares one parameter: a name, a literal, and a comment of fields separated
by ``|``. The last field is the meaning; the others are ``paper: value`` (what the paper used),
``range: low..high`` (inclusive, either end may be left out) and ``choices: a, b``::

    n_runs = 30          # paper: 30 | range: 1..1000 | runs per sample size
    estimator = "ulsif"  # choices: ulsif, kliep, kmm | how the ratio is estimated

Allowed literals are int, float, bool, str and lists of int, float or str; a list's range or
choices hold for each of its elements. A long list may go on in the next lines, with the comment
after its end. ``choices: these`` allows the elements of the list itself, ``choices: as cases``
what an earlier parameter allows::

    cases = ["Diabete", "Ionosphere",
             "Australian"]  # paper: all | choices: these | datasets
    case_shown = "Diabete"  # choices: as cases | dataset of the figure

``choices: within cases`` asks besides that a value other than the default lies in what `cases` is
in this run. No value of a list may stand in it twice.
"""

import ast
import difflib
import io
import tokenize
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap

import nbformat
from tabulate import tabulate

from companion.paths import ROOT

_SCALARS = (bool, int, float, str)
_FIELDS = ("paper", "range", "choices")
_CARD_COLUMN = 32  # characters; longer cells go on below


@dataclass(frozen=True)
class Parameter:
    """One declared parameter of a notebook."""

    name: str
    default: object
    meaning: str
    paper: str = ""
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    within: str = ""  # another parameter, whose value this one's must lie in

    @property
    def type_name(self):
        """The type as shown to people, for example ``int`` or ``list of float``."""
        if isinstance(self.default, list):
            return f"list of {type(self.default[0]).__name__}"
        return type(self.default).__name__

    @property
    def allowed(self):
        """The allowed values as shown to people; empty when only the type is prescribed."""
        if self.choices:
            return ", ".join(self.choices)
        if self.low is None and self.high is None:
            return ""
        return f"{_plain(self.low)}..{_plain(self.high)}"

    def check(self, value):
        """Return `value` as this parameter's type, or say in one sentence what is wrong with it."""
        if isinstance(self.default, list):
            if not isinstance(value, list) or not value:
                raise TypeError(f"{self.name} must be a non-empty {self.type_name}, got {value!r}")
            value = [self._check_scalar(element, type(self.default[0])) for element in value]
            twice = [element for element in value if value.count(element) > 1]
            if twice:
                raise ValueError(f"{self.name} must not have {twice[0]!r} twice, got {value!r}")
            return value
        return self._check_scalar(value, type(self.default))

    def _check_scalar(self, value, expected):
        if expected is float and type(value) is int:
            value = float(value)
        if type(value) is not expected:  # isinstance would let True pass as an int
            raise TypeError(f"{self.name} must be {_article(self.type_name)}, got {value!r}")
        if self.choices and str(value) not in self.choices:
            raise ValueError(f"{self.name} must be one of {self.allowed}; got {value!r}")
        too_low = self.low is not None and not value >= self.low
        too_high = self.high is not None and not value <= self.high
        if too_low or too_high:
            raise ValueError(f"{self.name} must lie in {self.allowed}, got {value!r}")
        return value


def _plain(bound):
    if bound is None:
        return ""
    return str(int(bound)) if bound.is_integer() else repr(bound)


def _article(noun):
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def parse_parameters(source):
    """Read the declarations of a ``parameters`` cell."""
    comments = _comments_by_line(source)
    parameters = []
    for statement in ast.parse(source).body:
        name, literal = _assignment(statement, source)
        if any(parameter.name == name for parameter in parameters):
            raise ValueError(f"parameters: {name} is declared twice")
        comment = comments.get(statement.end_lineno)
        if not comment:
            raise ValueError(f"parameters line {statement.lineno}: {name} needs a trailing comment")
        try:
            parameters.append(_declare(name, literal, comment, parameters))
        except (TypeError, ValueError) as error:
            raise ValueError(f"parameters line {statement.lineno}: {error}") from None
    return parameters


def _comments_by_line(source):
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {
        token.start[0]: token.string.lstrip("#").strip()
        for token in tokens
        if token.type == tokenize.COMMENT
    }


def _assignment(statement, source):
    where = f"parameters line {statement.lineno}"
    code = ast.get_source_segment(source, statement)
    simple = isinstance(statement, ast.Assign) and len(statement.targets) == 1
    if not simple or not isinstance(statement.targets[0], ast.Name):
        raise ValueError(f"{where}: only `name = literal` is allowed, got {code!r}")
    name = statement.targets[0].id
    try:
        return name, ast.literal_eval(statement.value)
    except ValueError:
        value = ast.get_source_segment(source, statement.value)
        raise ValueError(f"{where}: {name} must be a literal, got {value!r}") from None


def _declare(name, literal, comment, earlier):
    _refuse_odd_type(name, literal)
    *labelled, meaning = [field.strip() for field in comment.split("|")]
    if not meaning or meaning.split(":")[0] in _FIELDS:
        raise ValueError(f"{name}: the last field of the comment must say what it means")
    fields = _read_fields(name, labelled)
    low, high = _read_range(name, fields.get("range"))
    choices, within = _read_choices(name, fields.get("choices"), literal, earlier)
    paper = fields.get("paper", "")
    parameter = Parameter(name, literal, meaning, paper, low, high, choices, within)
    parameter.check(literal)  # a default outside its own range is a mistake of the notebook
    return parameter


def _refuse_odd_type(name, literal):
    elements = literal if isinstance(literal, list) else [literal]
    types = {type(element) for element in elements}
    if len(types) != 1 or not types <= set(_SCALARS):
        raise ValueError(
            f"{name} must be an int, float, bool, str or a non-empty list of one of them, "
            f"got {literal!r}"
        )


def _read_fields(name, labelled):
    fields = {}
    for field in labelled:
        key, colon, value = field.partition(":")
        if not colon or key not in _FIELDS or key in fields or not value.strip():
            raise ValueError(f"{name}: {field!r} is not one of paper: .., range: .., choices: ..")
        fields[key] = value.strip()
    return fields


def _read_range(name, text):
    if text is None:
        return None, None
    low, dots, high = text.partition("..")
    try:
        ends = [float(end) if end.strip() else None for end in (low, high)]
    except ValueError:
        ends = [None, None]
    if not dots or ends == [None, None]:
        raise ValueError(f"{name}: range must be written low..high, got {text!r}")
    return ends[0], ends[1]


def _read_choices(name, text, literal, earlier):
    if text is None:
        return (), ""
    if text == "these":
        if not isinstance(literal, list):
            raise ValueError(f"{name}: 'choices: these' needs a list, got {literal!r}")
        return tuple(str(element) for element in literal), ""
    how, _, other = text.partition(" ")
    if how in ("as", "within"):
        known = {parameter.name: parameter.choices for parameter in earlier}
        if not known.get(other):
            raise ValueError(f"{name}: no earlier parameter {other!r} has choices")
        return known[other], other if how == "within" else ""
    return tuple(choice.strip() for choice in text.split(",")), ""


def check_values(parameters: Iterable[Parameter], given: Mapping[str, object]):
    """Check new values before anything runs."""
    by_name = {parameter.name: parameter for parameter in parameters}
    values = {}
    for name, value in given.items():
        if name not in by_name:
            raise ValueError(_unknown(name, by_name))
        parameter = by_name[name]
        if isinstance(value, str):
            value = read_value(parameter, value)
        values[name] = parameter.check(value)
    for parameter in by_name.values():
        _refuse_outside(parameter, values, by_name)
    return values


def _refuse_outside(parameter, values, by_name):
    value = values.get(parameter.name, parameter.default)
    if not parameter.within or value == parameter.default:
        return  # the notebook takes of its own default what the run has
    allowed = values.get(parameter.within, by_name[parameter.within].default)
    for element in value if isinstance(value, list) else [value]:
        if element not in allowed:
            raise ValueError(
                f"{parameter.name} must lie within {parameter.within}, which is "
                f"{', '.join(allowed)} in this run; got {element!r}"
            )


def _unknown(name, by_name):
    near = difflib.get_close_matches(name, by_name, n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return f"unknown parameter {name!r}{hint}; the valid ones are: {', '.join(by_name)}"


def validate_here(name, scope):
    """Check the parameters of a running notebook, which papermill alone does not do."""
    declared = read_parameters(find_notebook(name))
    given = {parameter.name: scope[parameter.name] for parameter in declared}
    scope.update(check_values(declared, dict.fromkeys(_injected(scope)) | given))


def _injected(scope):
    """Names in the cell that papermill inserts; a misspelt one would otherwise go unnoticed."""
    cells = [source for source in scope.get("In", []) if source.startswith("# Parameters\n")]
    nodes = [node for source in cells for node in ast.walk(ast.parse(source))]
    return [n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]


def read_value(parameter, text):
    """Read a value typed on a command line as the parameter's type."""
    if isinstance(parameter.default, list):
        parts = [part.strip().strip("'\"") for part in text.strip().strip("[]").split(",")]
        return [_read_scalar(parameter, part, type(parameter.default[0])) for part in parts if part]
    return _read_scalar(parameter, text, type(parameter.default))


def _read_scalar(parameter, text, expected):
    if expected is str:
        return text
    try:
        if expected is bool:
            return {"true": True, "false": False}[text.strip().lower()]
        return expected(text)
    except (KeyError, ValueError):
        wanted = _article(parameter.type_name)
        raise TypeError(f"{parameter.name} must be {wanted}, got {text!r}") from None


def format_card(parameters):
    """Lay the declarations out as a plain-text table."""
    heads = ("name", "type", "default", "paper", "allowed", "meaning")
    rows = [
        (p.name, p.type_name, repr(p.default), p.paper or "-", p.allowed or "any", p.meaning)
        for p in parameters
    ]
    folded = [["\n".join(wrap(cell, _CARD_COLUMN)) for cell in row] for row in rows]
    return tabulate(folded, heads, tablefmt="plain", disable_numparse=True)


def find_notebook(name, root=ROOT):
    """Find a published notebook by its name."""
    wanted = Path(name).name.removesuffix(".ipynb")
    published = {path.stem: path for path in list_notebooks(root)}
    if wanted not in published:
        known = ", ".join(published) or "none yet"
        raise ValueError(f"notebook must be one of {known}; got {name!r}")
    return published[wanted]


def list_notebooks(root=ROOT):
    """List the published notebooks in reading order."""
    return sorted((Path(root) / "notebooks").glob("*.ipynb"))


def read_parameters(path):
    """Read what a notebook declares in the cell tagged ``parameters``."""
    notebook = nbformat.read(path, as_version=4)
    tagged = [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])]
    if len(tagged) != 1:
        name = Path(path).name
        raise ValueError(f"{name} must have one cell tagged parameters, got {len(tagged)}")
    return parse_parameters(tagged[0].source)
