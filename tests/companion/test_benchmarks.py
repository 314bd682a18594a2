"""The benchmark's own arithmetic, and the verdicts that its page computes."""

import csv
import json
import re
import subprocess
import sys

import numpy as np
import pytest

from benchmarks import page, store
from benchmarks.environment import REQUIREMENTS, ROOT
from benchmarks.floor import bare_search
from benchmarks.methods import METHODS
from benchmarks.plan import plan
from benchmarks.problem import normalised_error, true_ratio, two_gaussians
from benchmarks.summary import exponent, targets
from benchmarks.worker import OVER_LIMIT
from ddr import ULSIF


def entry(function, arguments, **measured):
    return {"function": function, "arguments": arguments, "source": "0", **measured}


@pytest.fixture
def results():
    """A small made-up set of measurements in which every target is met."""
    ours = {"ddr-ratio": 0.2, "ddr-coefficients": 0.5}
    entries = [
        entry(
            "quick_methods",
            {"d": 2, "n": 5000},
            seconds={**ours, "floor": 0.16, "clipping": 0.5},
            errors={"ddr-ratio": [0.01, 0.03], "ddr-coefficients": [0.03, 0.05]},
        ),
        entry(
            "slow_method",
            {"name": "densratio", "d": 2, "n": 5000},
            seconds=30.0,
            errors=[0.04, 0.06],
            grown_bytes=10**9,
            ours=ours,
        ),
        entry(
            "discriminative",
            {"d": 2, "n": 5000},
            cases={"a": {"iterations": 3, "ulsif": 0.2, "without_learner": 0.3, "whole": 0.4}},
        ),
        entry("imports", {}, seconds={
            "import sklearn.linear_model": 1.0, "import ddr": 0.01,
            "from ddr import DDRClassifier": 1.2,
        }),
        entry("paper_data", {}, **{
            "mixture": {"100": {"marginal": {"ratio": [0.1, 0.2], "coefficients": [0.3, 0.1]}}},
            "biased sampling": {"Diabete": {"ratio": [0.5, 0.6], "coefficients": [0.7, 0.8]}},
        }),
    ]  # fmt: skip
    entries += [
        entry(
            "many_rows",
            {"n": n, "clip": "ratio"},
            seconds=n * 1e-5,
            error=0.5,
            peak_bytes=10**9,
        )
        for n in (10**4, 10**5, 10**6)
    ]
    machine = dict.fromkeys(("processor", "cores", "system", "python", "blas"), "x")
    return {
        "machine": {
            **machine,
            "clock_step_seconds": 1e-6,
            "packages": {"numpy": "2", "adapt": None},
        },
        "methods": {name: {"label": m.label, "search": m.search} for name, m in METHODS.items()},
        "measurements": {str(i): e for i, e in enumerate(entries)},
    }


def verdict(results, words):
    (row,) = [row for row in targets(results) if words in row["target"]]
    return row["verdict"]


def change(results, function, **new):
    for measurement in results["measurements"].values():
        if measurement["function"] == function:
            measurement.update(new)


def test_true_ratio_has_mean_one_and_reweights_to_the_test_mean():
    X_train, X_test = two_gaussians(3, 200_000, 0)
    ratio = true_ratio(X_train)
    assert ratio.mean() == pytest.approx(1, abs=0.02)
    np.testing.assert_allclose(
        (ratio[:, None] * X_train).mean(axis=0), X_test.mean(axis=0), atol=0.02
    )


def test_error_is_one_for_constant_weights_and_zero_for_the_truth():
    truth = true_ratio(two_gaussians(2, 500, 0)[0])
    assert normalised_error(np.full(500, truth.mean()), truth) == pytest.approx(1)
    assert normalised_error(truth, truth) == 0


def test_floor_does_the_whole_search():
    """The bare arithmetic gives ULSIF's scores up to terms of order 1/n: nothing is left out."""
    X_train, X_test = two_gaussians(2, 3000, 0)
    sigmas, lams = np.array([0.5, 1.0, 2.0]), np.array([0.01, 0.1, 1.0])
    ulsif = ULSIF(sigmas, lams, random_state=0).fit(X_train, X_test)
    bare = bare_search(X_train, X_test, ulsif.centers_, sigmas, lams)
    np.testing.assert_allclose(bare, ulsif.scores_, rtol=2e-3)


@pytest.mark.parametrize("name", ["ddr-ratio", "ddr-coefficients", "ddr-kliep", "densratio"])
def test_methods_beat_no_weights(name):
    X_train, X_test = two_gaussians(2, 300, 0)
    weights = METHODS[name].fit(X_train, X_test, 0)
    assert weights.shape == (300,)
    assert normalised_error(weights, true_ratio(X_train)) < 0.5


def test_quick_plan_leaves_out_the_slow_large_ones():
    quick = {task.key for task in plan(quick=True)}
    assert "adapt, d=2, n=5000" in quick
    assert "adapt, d=2, n=20000" not in quick
    assert "adapt, d=2, n=20000" in {task.key for task in plan(quick=False)}


def test_a_target_with_too_few_cases_stays_open(results):
    verdicts = {row["verdict"].split(":")[0] for row in targets(results)}
    assert verdicts == {"met", "open", "not measured"}
    assert verdict(results, "n = 5,000, the ratio") == "open: met in 1 of 4 planned cases"
    assert verdict(results, "n = 20,000, the ratio") == "not measured"


def test_a_target_is_met_once_every_planned_case_is(results):
    (slow,) = [e for e in results["measurements"].values() if e["function"] == "slow_method"]
    for name in ("densratio", "adapt"):
        for d in (2, 50):
            arguments = {"name": name, "d": d, "n": 5000}
            results["measurements"][f"{name} {d}"] = slow | {"arguments": arguments}
    assert verdict(results, "n = 5,000, the ratio") == "met"


@pytest.mark.parametrize(
    ("function", "new", "words"),
    [
        ("slow_method", {"seconds": 23.9}, "n = 5,000, the ratio"),
        ("slow_method", {"seconds": 19.9}, "n = 5,000, coefficients"),
        ("slow_method", {"errors": [0.019, 0.019]}, "better of the two, the ratio"),
        ("slow_method", {"errors": [0.039, 0.039]}, "better of the two, coefficients"),
        ("many_rows", {"peak_bytes": 1.6e9}, "peak memory"),
        ("many_rows", {"failed": "MemoryError"}, "never"),
    ],
)
def test_a_worse_number_misses_its_target(results, function, new, words):
    change(results, function, **new)
    missed = [row["target"] for row in targets(results) if row["verdict"] == "missed"]
    if words == "never":
        assert missed == []
        assert verdict(results, "peak memory") == "not measured"
    else:
        assert any(words in target for target in missed)


def test_floor_ddr_import_and_exponent_can_be_missed(results):
    for measurement in results["measurements"].values():
        if measurement["function"] == "quick_methods":
            measurement["seconds"]["floor"] = 0.13
        if measurement["function"] == "discriminative":
            measurement["cases"]["a"]["without_learner"] = 0.41
        if measurement["function"] == "imports":
            measurement["seconds"]["from ddr import DDRClassifier"] = 1.51
        if measurement["function"] == "many_rows":
            measurement["seconds"] = measurement["arguments"]["n"] ** 1.2
    for words in ("bare arithmetic", "whole DDR fit", "import DDRClassifier", "exponent"):
        assert verdict(results, words) == "missed"


def test_exponent_of_a_square_law_is_two():
    assert exponent({n: {"seconds": n**2.0} for n in (10, 100, 1000)}) == pytest.approx(2)


def test_page_writes_every_fragment_it_includes(results, tmp_path):
    path = tmp_path / "results.json"
    path.write_text(json.dumps(results), encoding="utf-8")
    written = page.files(path=path)
    text = (page.RESULTS.parents[1] / "book" / "benchmarks.md").read_text(encoding="utf-8")
    included = {part.split()[0] for part in text.split("_generated/")[1:]}
    assert included == set(written)
    table = written["benchmarks_methods.md"]
    assert "| 2 | 5,000 | densratio 0.4.0 uLSIF |" in table
    assert "150.0 | 60.0 | 1,000 |" in table
    clipping = written["benchmarks_clipping.md"]
    assert "| mixture, n = 100, marginal | 0.150 ± 0.071 | 0.200 ± 0.141 | 1 of 2 |" in clipping


def test_clipping_summary_names_the_problems_where_the_ratio_loses(results):
    for measurement in results["measurements"].values():
        if measurement["function"] == "paper_data":
            measurement["biased sampling"]["Ionosphere"] = {
                "ratio": [0.1, 0.1, 9.0],
                "coefficients": [0.5, 0.5, 0.5],
            }
    mean, median = page.clipping_summary(results)
    assert (mean["problems"], mean["ratio clipped is better in"]) == (3, 2)
    assert mean["and not better in"] == "Ionosphere (3.07 against 0.50)"
    assert median["ratio clipped is better in"] == 3


def test_page_without_measurements_says_so(tmp_path):
    for text in page.files(path=tmp_path / "absent.json").values():
        assert "make bench" in text


def test_terminal_shows_every_table(results):
    text = page.as_text(results)
    for name in page.TABLES:
        assert f"== {name}" in text
    assert "densratio 0.4.0 uLSIF" in text


def test_page_lists_what_is_missing_or_failed(results):
    results["planned"] = [*results["measurements"], "adapt, d=2, n=20000"]
    results["measurements"]["0"]["failed"] = "MemoryError"
    (row,) = page.completeness_table(results)
    assert (row["planned"], row["measured"]) == (
        len(results["planned"]),
        len(results["planned"]) - 2,
    )
    assert row["not measured"] == "adapt, d=2, n=20000"
    assert row["failed"] == "0 (MemoryError)"


def test_published_measurements_follow_the_plan_and_agree_with_the_csv():
    results = json.loads(page.RESULTS.read_text(encoding="utf-8"))
    planned = {task.key: task.arguments for task in plan(quick=False)}
    assert results["mode"] == "full"
    assert results["planned"] == list(planned)
    for key, measurement in results["measurements"].items():
        assert measurement["arguments"] == planned[key]
    with open(page.RESULTS.with_suffix(".csv"), encoding="utf-8") as file:
        stored = list(csv.DictReader(file))
    rows = page.method_rows(results)
    assert [float(row["seconds"]) for row in stored] == [row["seconds"] for row in rows]


def test_the_clock_stays_fine_in_the_process_that_measures():
    """A limit by RLIMIT_CPU would coarsen it to ticks of milliseconds."""
    command = [sys.executable, "-m", "benchmarks.worker", "facts", "{}", "60"]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert json.loads(process.stdout)["clock_step_seconds"] < 1e-3


def test_a_measurement_over_its_limit_is_given_up():
    command = [sys.executable, "-m", "benchmarks.worker", "facts", "{}", "0"]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    assert process.returncode == OVER_LIMIT


def test_a_torn_or_absent_file_is_an_empty_start(tmp_path):
    torn = tmp_path / "torn.json"
    torn.write_text('{"measurements": {"imp', encoding="utf-8")
    assert store.read(torn, quick=False) == store.empty(quick=False)
    assert store.read(tmp_path / "absent.json", quick=True) == store.empty(quick=True)


def test_a_measurement_is_done_only_for_the_same_arguments_and_source(tmp_path):
    task = plan(quick=True)[0]
    source = store.source_hash(task.function)
    done = {"arguments": task.arguments, "source": source, "function": task.function}
    results = {"measurements": {task.key: done}}
    store.write(tmp_path / "r.json", results)
    assert store.is_done(store.read(tmp_path / "r.json", quick=True), task)
    for change in ({"source": "old"}, {"arguments": {}}, {"failed": "why"}):
        assert not store.is_done({"measurements": {task.key: {**done, **change}}}, task)


def test_environment_of_the_benchmark_has_what_the_searches_import():
    code = (
        "import sys, companion.runs.experiments\n"
        "from importlib.metadata import packages_distributions\n"
        "owners = packages_distributions()\n"
        "tops = {name.partition('.')[0] for name in sys.modules}\n"
        "print(*{owners[top][0] for top in tops if top in owners})"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = {re.sub(r"[-_.]+", "-", name).lower() for name in out.stdout.split()}
    pinned = {line.partition("==")[0] for line in REQUIREMENTS.read_text().splitlines()}
    assert {"numpy", "filelock"} <= imported
    ours_or_optional = {"ddr-companion", "ddr-book", "psutil"}  # joblib takes psutil if it is there
    assert imported - pinned <= ours_or_optional
