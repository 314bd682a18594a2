"""The declarations of a ``parameters`` cell: read them, and check new values against them.

The one check of parameters: `ddr-book run`, a running notebook and the page's own Python use it.

Each line declares one parameter: a name, a literal, and a comment of fields separated by ``|``. The
page *How to read and rerun this book* explains them::

    n_runs = 30          # paper: 30 | range: 1..1000 | runs per sample size
    estimator = "ulsif"  # choices: ulsif, kliep, kmm | how the ratio is estimated
    cases = ["Diabete", "Ionosphere",
             "Australian"]  # paper: all | choices: these | datasets
    case_shown = "Diabete"  # choices: as cases | dataset of the figure
"""

import ast
import difflib
import io
import re
import tokenize
from contextlib import suppress
from dataclasses import dataclass

_FORM = "paper: .. | range: low..high | choices: a, b | meaning"  # only the last is a must
_COMMENT = re.compile(
    r"""(paper:\ (?P<paper>[^|\s][^|]*?)\s*\|\s*)?
    (range:\ (?=\S*\d)(?P<low>-?\d+(\.\d+)?)?\.\.(?P<high>-?\d+(\.\d+)?)?\s*\|\s*)?
    (choices:\ (?P<choices>[^|\s][^|]*?)\s*\|\s*)?
    (?!paper:|range:|choices:)(?P<meaning>[^|]+)""",
    re.VERBOSE,
)


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

    @property
    def is_list(self):
        """Whether the value is a list; range and choices then hold for each of its elements."""
        return isinstance(self.default, list)

    @property
    def kind(self):
        """The type of the value, or of each element of a list."""
        return type(self.default[0] if self.is_list else self.default)

    @property
    def type_name(self):
        """The type as shown to people, for example ``int`` or ``list of float``."""
        return f"{'list of ' if self.is_list else ''}{self.kind.__name__}"

    @property
    def allowed(self):
        """The allowed values as shown to people; empty when only the type is prescribed."""
        if self.choices:
            return ", ".join(self.choices)
        ends = ["" if end is None else f"{end:.15g}" for end in (self.low, self.high)]
        return "..".join(ends) if any(ends) else ""

    def read(self, text):
        """Read a value typed on a command line; what cannot be read stays text, for `check`."""
        if not self.is_list:
            return self._read_one(text)
        parts = [part.strip().strip("'\"") for part in text.strip().strip("[]").split(",")]
        return [self._read_one(part) for part in parts if part]

    def _read_one(self, text):
        with suppress(KeyError, ValueError):
            if self.kind is bool:
                return {"true": True, "false": False}[text.strip().lower()]
            return self.kind(text)
        return text

    def check(self, value):
        """Return `value` as this parameter's type, or say in one sentence what is wrong with it."""
        if not self.is_list:
            return self._check_one(value)
        if not isinstance(value, list) or not value:
            raise TypeError(f"{self.name} must be a non-empty {self.type_name}, got {value!r}")
        value = [self._check_one(element) for element in value]
        twice = [element for element in value if value.count(element) > 1]
        if twice:
            raise ValueError(f"{self.name} must not have {twice[0]!r} twice, got {value!r}")
        return value

    def _check_one(self, value):
        if self.kind is float and type(value) is int:
            value = float(value)
        if type(value) is not self.kind:  # isinstance would let True pass as an int
            article = "an" if self.type_name[0] in "aeiou" else "a"
            raise TypeError(f"{self.name} must be {article} {self.type_name}, got {value!r}")
        if self.choices and str(value) not in self.choices:
            raise ValueError(f"{self.name} must be one of {self.allowed}; got {value!r}")
        too_low = self.low is not None and not value >= self.low
        too_high = self.high is not None and not value <= self.high
        if too_low or too_high:
            raise ValueError(f"{self.name} must lie in {self.allowed}, got {value!r}")
        return value


def parse_parameters(source):
    """Read the declarations of a ``parameters`` cell."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = {t.start[0]: t.string.strip("# ") for t in tokens if t.type == tokenize.COMMENT}
    parameters = {}
    for statement in ast.parse(source).body:
        try:
            parameter = _declare(statement, comments.get(statement.end_lineno, ""), parameters)
        except (TypeError, ValueError) as error:
            raise ValueError(f"parameters line {statement.lineno}: {error}") from None
        parameters[parameter.name] = parameter
    return list(parameters.values())


def _declare(statement, comment, earlier):
    try:
        [target] = statement.targets
        name, literal = target.id, ast.literal_eval(statement.value)
    except (AttributeError, ValueError):
        code = ast.unparse(statement)
        raise ValueError(f"only `name = literal` is allowed, got {code!r}") from None
    types = {type(element) for element in (literal if isinstance(literal, list) else [literal])}
    if len(types) != 1 or not types <= {bool, int, float, str}:
        kinds = "an int, float, bool, str or a non-empty list of one of them"
        raise ValueError(f"{name} must be {kinds}, got {literal!r}")
    if name in earlier:
        raise ValueError(f"{name} is declared twice")
    fields = _COMMENT.fullmatch(comment)
    if fields is None:
        raise ValueError(f"{name} needs a trailing comment `{_FORM}`, got {comment!r}")
    low, high = (float(end) if end else None for end in fields.group("low", "high"))
    choices = _read_choices(name, fields["choices"] or "", literal, earlier)
    paper = fields["paper"] or ""
    parameter = Parameter(name, literal, fields["meaning"], paper, low, high, choices)
    parameter.check(literal)  # a default outside its own range is a mistake of the notebook
    return parameter


def _read_choices(name, text, literal, earlier):
    if text == "these":
        if not isinstance(literal, list):
            raise ValueError(f"{name}: 'choices: these' needs a list, got {literal!r}")
        return tuple(map(str, literal))
    how, _, other = text.partition(" ")
    if how == "as":
        if other not in earlier or not earlier[other].choices:
            raise ValueError(f"{name}: no earlier parameter {other!r} has choices")
        return earlier[other].choices
    return tuple(filter(None, map(str.strip, text.split(","))))


def check_values(parameters, given):
    """Check new values, by name, before anything runs."""
    by_name = {parameter.name: parameter for parameter in parameters}
    values = {}
    for name, value in given.items():
        if name not in by_name:
            near = difflib.get_close_matches(name, by_name, n=1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            known = ", ".join(by_name)
            raise ValueError(f"unknown parameter {name!r}{hint}; the valid ones are: {known}")
        parameter = by_name[name]
        values[name] = parameter.check(parameter.read(value) if isinstance(value, str) else value)
    return values
