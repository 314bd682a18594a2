"""The stored natural shifts: complete, honest, and what the guard's limits are fitted to."""

import itertools
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from companion.pages import write_files

from benchmarks import shift_page, shift_store, shifts
from benchmarks.shift_methods import LEARNERS, METHODS, score
from benchmarks.shift_rule import (
    best,
    by_rule,
    choices,
    guarded,
    leave_one_kind_out,
    stored,
    summary,
)
from benchmarks.shift_tasks import KINDS, TASKS, draw
from ddr import GuardedDDRClassifier
from ddr.guard import RULE


@pytest.fixture(scope="module")
def bench():
    return stored()


@pytest.fixture(scope="module")
def table(bench):
    gains, _, seen = bench
    return by_rule(gains, seen)


def test_every_task_learner_and_seed_is_stored_once(bench):
    gains, _, seen = bench
    draws = itertools.product(TASKS, LEARNERS, range(shifts.SEEDS))
    expected = {(task.name, task.kind, learner, seed) for task, learner, seed in draws}
    assert len(gains) == len(expected)
    assert set(gains.index) == expected == set(seen.index)
    assert len(TASKS) >= 24
    assert {task.kind for task in TASKS} == set(KINDS)


def test_limits_of_the_guard_are_those_fitted_to_the_stored_bench(table):
    assert best(table) == RULE


def test_a_kind_left_out_has_no_say_in_its_own_limits(table):
    kinds = table.index.get_level_values("kind")
    rules, gain = leave_one_kind_out(table)
    altered = table.copy()
    altered[kinds == "label"] = -50.0
    assert best(altered[kinds != "label"]) == rules["label"]
    assert leave_one_kind_out(altered)[0]["label"] == rules["label"]
    assert len(gain) == len(table)


def test_the_table_of_choices_is_the_rule(bench):
    _, _, seen = bench
    one_by_one = [RULE.choose(SimpleNamespace(**row))[0] for row in seen.to_dict("records")]
    assert choices(RULE, seen).tolist() == one_by_one


def test_hidden_labels_change_scores_but_no_choice(bench):
    gains, _, seen = bench
    other = gains.sample(frac=1, random_state=0).set_axis(gains.index)  # as other labels would
    assert not np.allclose(guarded(RULE, gains, seen), guarded(RULE, other, seen))
    task = next(task for task in TASKS if task.name == "label: Diabete")
    X, y, X_target, y_target = draw(task, 0)
    first, second = (
        GuardedDDRClassifier(LEARNERS["naive Bayes"], random_state=0).fit(X, y, X_target)
        for _ in range(2)
    )
    hidden = np.random.default_rng(0).permutation(y_target)
    assert score(first, X_target, y_target) != score(second, X_target, hidden)
    assert first.choice_ == second.choice_


@pytest.mark.parametrize("name", ["none: Diabete", "label: optdigits", "covariate: Australian"])
def test_guard_does_again_what_is_stored(bench, name):
    gains, losses, seen = bench
    task = next(task for task in TASKS if task.name == name)
    X, y, X_target, y_target = draw(task, 1)
    for learner in ("naive Bayes", "kernel"):
        key = (task.name, task.kind, learner, 1)
        model = GuardedDDRClassifier(LEARNERS[learner], random_state=1).fit(X, y, X_target)
        assert model.choice_ == choices(RULE, seen.loc[[key]])[0]
        plain = score(model.report_.models["none"], X_target, y_target)["accuracy"]
        found = score(model, X_target, y_target)
        assert 100 * (found["accuracy"] - plain) == pytest.approx(
            gains.loc[key, METHODS[model.choice_]], abs=0.02
        )
        assert found["log_loss"] == pytest.approx(losses.loc[key, METHODS[model.choice_]], abs=2e-3)


def test_summary_counts_as_it_says():
    index = pd.MultiIndex.from_tuples(
        [("a", "none", "x", 0), ("a", "none", "x", 1), ("b", "label", "x", 0)],
        names=["task", "kind", "learner", "seed"],
    )
    found = summary(pd.Series([-6.0, 2.0, 4.0], index))
    assert found == {"mean": 1.0, "worst": -2.0, "losers": pytest.approx(1 / 3), "none": -2.0}


def test_store_goes_on_where_it_stopped(tmp_path):
    path = tmp_path / "rows.csv"
    assert shift_store.read(path) == []
    rows = [{"task": "a: b", "seed": s, "learner": "x", "accuracy": 0.5 + s / 8} for s in (1, 0)]
    shift_store.write(path, rows)
    assert shift_store.read(path) == rows[::-1]
    assert shift_store.done(shift_store.read(path)) == {("a: b", 0), ("a: b", 1)}
    assert [p.name for p in tmp_path.iterdir()] == ["rows.csv"]


def test_nothing_is_left_of_a_finished_run(capsys):
    assert shifts.main(["--here", "--list"]) == 0
    assert capsys.readouterr().out == ""


def test_the_page_is_computed(tmp_path, bench):
    files = shift_page.files()
    assert f"{len(bench[0]):,} fits" in files["shifts_words.md"]
    text = files["shifts_methods.md"]
    assert all(name in text for name in ("KMM", "skada nearest", "EM", shift_page.GUARDED))
    (picture,) = write_files(tmp_path, {"shifts.png": files["shifts.png"]})
    assert picture.stat().st_size > 10_000
