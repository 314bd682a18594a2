"""The stored natural shifts: whole, told apart from made ones, and what the rule is fitted to."""

import subprocess
from itertools import product

import numpy as np
import pandas as pd
import pytest
from companion.evidence import shifts
from sklearn.metrics import log_loss

from benchmarks import natural
from benchmarks.natural import STRENGTHS
from benchmarks.natural_measure import DRAWS, LEARNERS, label_shift_weights
from benchmarks.natural_tasks import MADE, TASKS
from ddr.guard import RULE, Rule
from ddr.guard.guarded import OFFSET_STRENGTH

KEYS = [*natural.FIT, "draw"]


@pytest.fixture(scope="module")
def scores():
    return shifts.stored("scores")


@pytest.fixture(scope="module")
def outside(scores):
    kept = scores[~scores.vault]
    return kept, shifts.by_rule(kept)


def test_every_task_learner_and_draw_is_stored_once(scores):
    assert not scores[KEYS].duplicated().any()
    small = scores[scores["size"] == 300]
    expected = set(product((task.name for task in TASKS), LEARNERS, range(DRAWS)))
    assert set(zip(small.task, small.learner, small.draw, strict=True)) == expected
    large = scores[scores["size"] == 3000]
    assert large.task.nunique() >= 20
    assert large.groupby(["task", "draw"]).learner.nunique().min() == len(LEARNERS)
    assert large.groupby("draw").task.nunique().nunique() == 1  # a draw came to its end
    assert set(shifts.stored("labels").task) == set(scores.task)


def test_enough_tasks_are_natural_and_the_vault_is_a_part_of_them():
    natural_kinds, *made = shifts.GROUPS.values()
    own = [task for task in TASKS if task.kind in natural_kinds]
    assert len(own) == len({task.table for task in own}) >= 24
    assert 5 <= sum(task.vault for task in own) <= len(own) / 2
    assert {task.kind for task in TASKS} - {*natural_kinds} == set(MADE) == set(sum(made, ()))


def test_limits_of_the_guard_are_those_fitted_to_the_stored_bench(outside):
    kept, table = outside
    assert shifts.best(table, kept) == RULE


def test_a_table_left_out_has_no_say_in_its_own_limits(outside):
    kept, table = outside
    name = kept.table.iloc[0]
    mine = kept.table == name
    altered = table.copy()
    altered[mine] = -50.0
    rules = [shifts.best(t[~mine], kept[~mine]) for t in (table, altered)]
    assert rules[0] == rules[1]
    assert_gain = shifts.left_out()[kept.index][mine]
    assert np.array_equal(assert_gain, table.loc[mine, rules[0]])


def test_strength_of_the_offsets_is_the_one_fitted_outside_the_vault():
    told = shifts.told()
    known = told[~told.vault & (told.labels == 20)]
    assert shifts.strength(known) == f"offsets {OFFSET_STRENGTH}"
    assert STRENGTHS == shifts.STRENGTHS
    # The vault is judged by it, and each other table by what the rest gives.
    kept = told[told.vault]
    assert kept.offsets.equals(kept[f"offsets {OFFSET_STRENGTH}"])
    table = known.table.iloc[0]
    mine = told.table == table
    name = shifts.strength(known[known.table != table])
    assert told.offsets[mine].equals(told[name][mine])


def test_the_draws_of_a_fit_share_one_vote(scores):
    assert scores.groupby(natural.FIT).weight.sum().to_numpy() == pytest.approx(1)
    assert (shifts.stored("labels").weight == 1).all()


def test_the_table_of_choices_is_the_rule(scores):
    rule = Rule(prior_p=0.05, condition=4.0, residual=0.06, large=0.7)
    one_by_one = [rule.choose(row)[0] == "em" for row in scores.itertuples()]
    assert np.all(shifts.answers(rule, scores), axis=0).tolist() == one_by_one
    assert 0 < sum(one_by_one) < len(scores)


@pytest.mark.weekly
def test_a_tenth_of_the_fits_gives_the_stored_rows(root, scores, tmp_path):
    """Tasks drawn with a seed are fitted anew, with all learners, by the code as it is."""
    python = root / ".venv-bench" / "bin" / "python"
    if not python.exists():
        pytest.skip("the benchmark's environment is not there: run `make .venv-bench` first")
    command = [python, "-m", "benchmarks.natural_measure", tmp_path, "10"]
    subprocess.run(command, cwd=root, check=True)
    found = pd.DataFrame([natural.replay(path)[0] for path in tmp_path.glob("*.npz")])
    assert len(found) >= len(scores) / 20
    kept = found[KEYS].merge(scores, on=KEYS)
    for name in found.select_dtypes("number"):
        told = name in natural.SEEN or name.endswith("log-loss")
        limit = 0.01 if told else 0.5  # in points: a near-tie may fall to the other side
        np.testing.assert_allclose(found[name], kept[name], rtol=2e-3, atol=limit, err_msg=name)


def test_what_is_wanted_is_counted_as_it_says():
    gain = pd.DataFrame({"rule": [-6.0, -6.0, 2.0, 4.0]})
    # The first two are draws of one fit.
    scores = pd.DataFrame({"task": list("aaab"), "weight": [0.5, 0.5, 1, 1]})
    found = shifts.summary(gain, scores)
    assert {name: value["rule"] for name, value in found.items()} == {
        "mean": 1.0,
        "worst": -2.0,
        "losers": pytest.approx(1 / 3),
        "worst fit": -6.0,
    }
    assert shifts.missed(found)["rule"] == pytest.approx(100 / 3 - 1)
    assert shifts.missed(found, nothing=True)["rule"] == 1


def test_intervals_are_over_tables():
    scores = pd.DataFrame({"table": list("aabbcc"), "task": list("aabbcc"), "weight": 0.5})
    mean, low, high = shifts.clustered(pd.Series([1.0, 3, 2, 2, 5, 9]), scores)
    assert mean == pytest.approx(11 / 3)
    half = 4.3027 * np.std([2, 2, 7], ddof=1) / np.sqrt(3)
    assert [low, high] == pytest.approx([mean - half, mean + half], abs=1e-3)


def test_label_shift_controls_find_the_class_weights():
    rng = np.random.default_rng(0)

    class Cross:
        codes = np.repeat([0, 1], 5000)
        source = np.eye(2)[np.where(rng.random(10_000) < 0.8, codes, 1 - codes)]
        truth = np.repeat([0, 1], [1000, 9000])
        target = np.eye(2)[np.where(rng.random(10_000) < 0.8, truth, 1 - truth)]

    assert label_shift_weights(Cross, regularise=False) == pytest.approx([0.2, 1.8], abs=0.1)
    held = label_shift_weights(Cross, regularise=True)
    assert 0.2 < held[0] < 1 < held[1] < 1.8


def test_strategies_are_scored_on_the_rows_kept_apart(tmp_path):
    rng = np.random.default_rng(0)
    names = [*natural.CANDIDATES, "added asked 20 5"]
    y, y_rest = rng.integers(2, size=40), rng.integers(2, size=500)
    stored = {"target": (len(names), 40, 2), "rest": (len(names), 500, 2)}
    stored = {name: np.log(rng.dirichlet([1, 1], shape[:2])) for name, shape in stored.items()}
    key = {"task": TASKS[0].name, "learner": "naive Bayes", "size": 300, "draw": 0}
    labels = {"y_target": y, "y_rest": y_rest, "order": rng.permutation(40)}
    path = tmp_path / "fit.npz"
    np.savez(path, names=names, **key, **labels, **stored, **dict.fromkeys(natural.SEEN, 0.5))
    found = natural.by_labels(natural.replay(path)[1]).loc[key["task"], "naive Bayes", 300, 20]
    said = [stored["rest"][place] for place in (0, -1)]
    plain, added = (log_loss(y_rest, np.exp(log)) for log in said)
    right, more = (100 * np.mean(log.argmax(axis=1) == y_rest) for log in said)
    assert found["added asked 5"] == pytest.approx(more - right)
    assert found["added asked 5, log-loss"] == pytest.approx(added - plain)
    assert found["added asked 5, losers"] == float(more - right < -5)
