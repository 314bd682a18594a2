"""Parameter cards: strictly parsed, and wrong values refused before anything runs."""

import pytest
from companion.browser.declared import check_values, parse_parameters
from companion.kit.parameters import (
    find_notebook,
    format_card,
    list_notebooks,
    read_parameters,
    validate_here,
)

CELL = """\
# What varies
n_runs = 30  # paper: 30 | range: 1..1000 | runs per sample size
share = 0.9  # range: 0..1 | share of the rows drawn

method = "ulsif"  # choices: ulsif, kliep | ratio estimator
sizes = [100, 200]  # paper: 100 to 1000 | range: 10.. | training sizes
verbose = False  # whether to print progress
"""

FORM = "n needs a trailing comment `paper: .. | range: low..high | choices: a, b | meaning`, got"


def test_card_shows_every_field():
    lines = format_card(parse_parameters(CELL)).splitlines()
    assert len(lines) == 6
    assert lines[1].split(maxsplit=5)[:5] == ["n_runs", "int", "30", "30", "1..1000"]
    assert lines[1].endswith("runs per sample size")
    assert "list of int" in lines[4]
    assert "10.." in lines[4]
    assert lines[5].split()[:5] == ["verbose", "bool", "False", "-", "any"]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("n = 3", FORM),
        ("n = m  # x", "only `name = literal` is allowed, got 'n = m'"),
        ("n = []  # x", "non-empty list"),
        ("n = [1, 'a']  # x", "non-empty list"),
        ("n = 'a'  # choices: these | x", "'choices: these' needs a list, got 'a'"),
        ("n = 'a'  # choices: as m | x", "no earlier parameter 'm' has choices"),
        ("n = 3  # range: 1..2 | x", "n must lie in 1..2, got 3"),
        ("n = 3  # range: a..b | x", FORM),
        ("n = 3  # size: 3 | x", FORM),
        ("n = 3  # paper: 3 | paper: 4 | x", FORM),
        ("n = 'c'  # choices: a, b | x", "n must be one of a, b; got 'c'"),
        ("n = 3  # x\nn = 4  # y", "n is declared twice"),
    ],
)
@pytest.mark.hardening("mistake")
def test_malformed_declaration_is_refused(line, sentence):
    with pytest.raises(ValueError, match=r"^parameters") as caught:
        parse_parameters(line)
    assert sentence in str(caught.value)


def test_choices_can_be_those_of_the_list_or_of_an_earlier_parameter():
    cell = (
        'cases = ["a", "b",\n  "c"]  # choices: these | all\none = "b"  # choices: as cases | one'
    )
    cases, one = parse_parameters(cell)
    assert cases.choices == one.choices == ("a", "b", "c")
    assert (cases.meaning, one.meaning) == ("all", "one")
    with pytest.raises(ValueError, match="one must be one of a, b, c; got 'd'"):
        check_values([cases, one], {"one": "d"})


@pytest.mark.parametrize("path", list_notebooks(), ids=lambda path: path.stem)
def test_every_number_of_a_published_notebook_has_both_ends(path):
    """An open end lets somebody ask for what no machine can bear."""
    numbers = [p for p in read_parameters(path) if type(p.default) in (int, float, list)]
    assert [p.name for p in numbers if not p.choices and None in (p.low, p.high)] == []


def test_strings_are_read_as_the_declared_type():
    given = {"n_runs": "5", "share": "1", "method": "kliep", "sizes": "[50, 70]", "verbose": "TRUE"}
    expected = {"n_runs": 5, "share": 1.0, "method": "kliep", "sizes": [50, 70], "verbose": True}
    assert check_values(parse_parameters(CELL), given) == expected


@pytest.mark.parametrize(
    ("given", "error", "sentence"),
    [
        ({"n_run": 5}, ValueError, "did you mean 'n_runs'?); the valid ones are: n_runs, share,"),
        ({"n_runs": "many"}, TypeError, "n_runs must be an int, got 'many'"),
        ({"n_runs": True}, TypeError, "n_runs must be an int, got True"),
        ({"n_runs": 1001}, ValueError, "n_runs must lie in 1..1000, got 1001"),
        ({"share": "nan"}, ValueError, "share must lie in 0..1, got nan"),
        ({"method": "kmm"}, ValueError, "method must be one of ulsif, kliep; got 'kmm'"),
        ({"sizes": "100,5"}, ValueError, "sizes must lie in 10.., got 5"),
        ({"sizes": ""}, TypeError, "sizes must be a non-empty list of int, got []"),
        ({"sizes": "100,200,100"}, ValueError, "sizes must not have 100 twice"),
        ({"verbose": "yes"}, TypeError, "verbose must be a bool, got 'yes'"),
    ],
)
@pytest.mark.hardening(
    "mistake",
    mends="A sample size of a million millions failed after 160 seconds, not at once; "
    "cases named twice crashed a notebook or were counted twice.",
)
def test_wrong_value_is_refused(given, error, sentence):
    with pytest.raises(error) as caught:
        check_values(parse_parameters(CELL), given)
    assert sentence in str(caught.value)


def _defaults(name):
    return {p.name: p.default for p in read_parameters(find_notebook(name))}


@pytest.mark.parametrize("path", list_notebooks(), ids=lambda path: path.stem)
def test_defaults_pass_and_a_wrong_number_of_runs_does_not(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # papermill may be called from anywhere
    scope = _defaults(path.stem)
    validate_here(path.stem, scope)
    assert scope == _defaults(path.stem)
    whole = next(p for p in read_parameters(path) if p.type_name == "int" and p.low is not None)
    with pytest.raises(ValueError, match=f"^{whole.name} must lie in"):
        validate_here(path.stem, scope | {whole.name: int(whole.low) - 1})


def test_text_of_papermill_gets_its_type():
    scope = _defaults("03_biased_sampling") | {"cases": "['Diabete', 'USPS5v6']", "strength": 2}
    validate_here("03_biased_sampling", scope)
    assert scope["cases"] == ["Diabete", "USPS5v6"]
    assert type(scope["strength"]) is float


@pytest.mark.hardening("mistake")
def test_misspelt_name_of_papermill_is_noticed():
    scope = _defaults("03_biased_sampling") | {"In": ["", "# Parameters\nn_run = 5\n"]}
    with pytest.raises(ValueError, match=r"unknown parameter 'n_run'.*did you mean 'n_runs'"):
        validate_here("03_biased_sampling", scope)
