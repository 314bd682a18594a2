"""What the frame promises: examples run, names exist, fragments are written, versions agree."""

import re

import pytest
import yaml
from companion.pages import api

from ddr import __version__


def listed_pages(root):
    """The Markdown pages that the table of contents names."""
    text = (root / "_toc.yml").read_text(encoding="utf-8")
    return [root / f"{name}.md" for name in re.findall(r"(?:file|root): (book/\S+)", text)]


def test_every_listed_page_exists(root):
    assert [page.name for page in listed_pages(root) if not page.exists()] == []


def test_every_module_has_a_reference_page(root, tmp_path):
    written = {path.stem for path in api.write(tmp_path)}
    modules = {path.stem for path in (root / "ddr").glob("[!_]*.py")}
    assert written == modules
    named = [name for names in api.GROUPS.values() for name in names]
    assert set(named) <= modules, "a group names a module that does not exist"
    groups = {path.parent.name for path in (tmp_path / "api").rglob("*.rst")}
    assert groups == set(api.GROUPS)
    assert all((root / "book" / "api" / f"{group}.md").exists() for group in groups)


def test_pages_of_removed_modules_are_removed(tmp_path):
    stale = tmp_path / "api" / "method" / "gone.rst"
    stale.parent.mkdir(parents=True)
    stale.write_text("old")
    api.write(tmp_path)
    assert not stale.exists()


def test_names_of_the_notation_exist(root):
    text = (root / "book" / "notation.md").read_text(encoding="utf-8")
    table = text[text.index("| symbol") : text.index("## Words")]
    source = "\n".join(path.read_text(encoding="utf-8") for path in (root / "ddr").glob("*.py"))
    names = {name for code in re.findall(r"`([^`]+)`", table) for name in re.findall(r"\w+", code)}
    foreign = {"len", "lambda", "alg", "ddr"}
    assert [n for n in sorted(names - foreign) if not re.search(rf"\b{n}\b", source)] == []


def test_examples_on_own_data_run(root, capsys):
    text = (root / "book" / "how_to.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```\{code-block\} python\n(.*?)```", text, re.DOTALL)
    new_population, own_table = [block for block in blocks if "DDRClassifier" in block]
    scope = {}
    exec(new_population, scope)  # our own page
    assert capsys.readouterr().out
    assert scope["model"].weights_.shape == scope["y"].shape
    scope = {}
    exec(own_table, scope)
    problem, model = scope["problem"], scope["model"]
    assert model.weights_.shape == problem.importance.shape
    assert problem.info["gaps"][problem.info["chosen"]] == max(problem.info["gaps"])
    shown = [
        float(number) for number in re.findall(r"accuracy (0\.\d{3})", capsys.readouterr().out)
    ]
    learners = (scope["plain"], model)
    assert shown == [round(m.score(problem.X_test, problem.y_test), 3) for m in learners]


def test_declarations_shown_to_readers_parse(root):
    from companion.notebook_kit.parameters import parse_parameters

    text = (root / "book" / "how_to.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```\{code-block\} python\n(.*?)```", text, re.DOTALL)
    [example] = [block for block in blocks if "paper: " in block]
    names = [parameter.name for parameter in parse_parameters(example)]
    assert names == ["n_runs", "estimator", "cases", "case_shown"]


def test_versions_agree(root):
    citation = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == __version__
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    assert citation["repository-code"] == config["repository"]["url"]


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


def test_vendored_mathjax_is_complete(root):
    folder = root / "book" / "_static" / "mathjax"
    assert (folder / "tex-mml-chtml.js").stat().st_size > 1_000_000
    assert "Apache License" in (folder / "LICENSE").read_text(encoding="utf-8")
    fonts = list((folder / "output" / "chtml" / "fonts" / "woff-v2").glob("*.woff"))
    assert len(fonts) == 23
