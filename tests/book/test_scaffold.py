"""What the frame promises: names exist, versions agree, what is vendored is whole."""

import json
import re
from importlib import import_module

import numpy as np
import pytest
import yaml
from sklearn.linear_model import LogisticRegression

import ddr

PUBLIC = [name for name in ddr.__all__ if name != "__version__"]


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_in_the_reference_once(root, name):
    pages = (root / "book" / "reference").glob("*.md")
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    entries = re.findall(r"^\.\. auto\w+:: (\S+)", text, re.MULTILINE)
    [entry] = [entry for entry in entries if entry.rpartition(".")[2] == name]
    module, _, _ = entry.rpartition(".")
    assert getattr(import_module(module), name) is getattr(ddr, name)


def test_names_of_the_notation_exist(root):
    text = (root / "book" / "notation.md").read_text(encoding="utf-8")
    table = text[text.index("| symbol") : text.index("## Words")]
    source = "\n".join(path.read_text(encoding="utf-8") for path in (root / "ddr").rglob("*.py"))
    names = {name for code in re.findall(r"`([^`]+)`", table) for name in re.findall(r"\w+", code)}
    foreign = {"len", "lambda", "alg", "ddr"}
    assert [n for n in sorted(names - foreign) if not re.search(rf"\b{n}\b", source)] == []


def test_the_guide_explains_every_line_of_the_report(root):
    text = (root / "book" / "use" / "is_it_shifted.md").read_text(encoding="utf-8")
    X, y = np.random.default_rng(0).standard_normal((200, 2)), np.arange(200) % 2
    report = ddr.shift_report(X, y, X + 0.5, LogisticRegression())
    assert re.findall(r"(?m)^(.+)\n: ", text) == [what for what, *_ in report.rows()]


def test_declarations_shown_to_readers_parse(root):
    from companion.browser.declared import parse_parameters

    text = (root / "book" / "how_to.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```\{code-block\} python\n(.*?)```", text, re.DOTALL)
    [example] = [block for block in blocks if "paper: " in block]
    names = [parameter.name for parameter in parse_parameters(example)]
    assert names == ["n_runs", "estimator", "cases", "case_shown"]


def test_versions_agree(root):
    citation = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == ddr.__version__
    entry = (root / "book" / "cite.md").read_text(encoding="utf-8")
    for said in (
        f"Version {citation['version']}",
        citation["title"],
        citation["authors"][0]["name"],
    ):
        assert f"{{{said}}}" in entry
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    assert citation.get("repository-code", "") == config["repository"]["url"]


@pytest.mark.parametrize("name", ["test", "book", "newest"])
def test_workflows_are_pinned_and_modest(root, name):
    path = root / ".github" / "workflows" / f"{name}.yml"
    text = path.read_text(encoding="utf-8")
    used = re.findall(r"uses: (\S+)", text)
    assert used
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action) for action in used)
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {"contents": "read"}
    writing = {
        job for job, body in workflow["jobs"].items() if "write" in str(body.get("permissions"))
    }
    assert writing <= {"deploy"}


def test_the_record_of_reliability_is_that_of_these_tests(root):
    """Fails when a test of hardening came or went and `make reliability` was not run after it."""
    recorded = json.loads((root / "book" / "reliability.json").read_text(encoding="utf-8"))
    marked = set()
    for path in (root / "tests").glob("*/test_*.py"):
        text = path.read_text(encoding="utf-8")
        names = re.findall(r"@pytest\.mark\.hardening\((?:.|\n(?!def))*\ndef (\w+)", text)
        marked |= {f"{path.relative_to(root)}::{name}" for name in names}
    assert set(recorded) == marked
    assert all(entry["tried"] == entry["held"] > 0 for entry in recorded.values())
