"""Asking for labels and telling them: unbiased, safe at any time, and blind to all other labels."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from ddr import GuardedDDRClassifier
from ddr.guard.labels import SURE, Gain, adjusted, asking_order, chosen, interval, judge, wealth


def problem(n=200, seed=0):
    """A source, and a target whose class means moved and whose frequencies changed."""
    rng = np.random.default_rng(seed)
    y, y_target = rng.integers(2, size=n), (rng.random(n) < 0.7).astype(int)
    X = rng.normal(size=(n, 2)) + 1.2 * y[:, None]
    X_target = rng.normal(size=(n, 2)) + 1.2 * y_target[:, None] - 0.8
    return X, y, X_target, y_target


@pytest.fixture
def asked():
    X, y, X_target, y_target = problem()
    return GuardedDDRClassifier(random_state=0).fit(X, y, X_target), X_target, y_target


def null_worlds(n_worlds, n_rows=40, shares=(0.15, 0.4, 0.8, 1.0), seed=0):
    """Wealths over the labels of related candidates, none of which gains, and their sizes.

    Each changes its own share of the rows, as often for the better as for the worse or not at all;
    the rows come in random order, and a wealth moves where its candidate is concerned.
    """
    rng = np.random.default_rng(seed)
    base = np.resize([1, -1, 0, 1, -1], n_rows)
    for _ in range(n_worlds):
        order, paths, sizes = rng.permutation(n_rows), [], []
        for share in shares:
            concerned, d = rng.random(n_rows) < share, base.copy()
            surplus = d[concerned].sum()
            best = rng.permutation(np.flatnonzero(concerned & (d == np.sign(surplus))))
            d[best[: abs(surplus)]] = 0
            mine = d[order][concerned[order]]
            after = np.append(1.0, wealth(mine, len(mine)) if len(mine) else [])
            paths.append(after[np.cumsum(concerned[order])])
            sizes.append(len(mine))
        yield np.array(paths), sizes


def test_where_nothing_gains_one_in_twenty_is_adapted_to_at_most_however_often_one_looks():
    wrong = sum(np.any(adjusted(*world) >= SURE) for world in null_worlds(10_000))
    assert 0 < wrong / 10_000 <= 0.05


def test_wealth_of_one_candidate_is_fair():
    rng, n = np.random.default_rng(1), 30
    d = np.repeat([1, 0, -1], 10)
    final = [wealth(rng.permutation(d), n)[9] for _ in range(20_000)]
    assert_allclose(np.mean(final), 1, atol=0.05)
    assert wealth(np.ones(8), 200)[-1] > 20 > wealth(np.ones(4), 200)[-1]


def test_wealth_knows_when_all_is_decided():
    assert wealth(np.ones(11), 20)[-1] == np.inf  # nine losses more would still leave a gain
    assert wealth(-np.ones(11), 20)[-1] == 0


def test_interval_covers_and_closes():
    rng, missed = np.random.default_rng(0), 0
    for _ in range(300):
        d = rng.choice([-1, 0, 1], 40, p=[0.2, 0.3, 0.5])
        low, high = interval(rng.permutation(d)[:15], 40)
        missed += not low - 0.01 <= d.mean() <= high + 0.01
    assert missed / 300 <= 0.05
    assert_allclose(interval(d, 40), d.mean(), atol=0.02)
    assert interval(np.array([]), 40) == (-1, 1)


def test_adjusted_evidence_is_the_least_weighted_average_over_all_subsets():
    rng = np.random.default_rng(0)
    values, rows = rng.exponential(20, 5), np.array([3, 40, 0, 25, 12])
    for k, found in enumerate(adjusted(values, rows)):
        subsets = [[k, *other] for r in range(5) for other in combinations({*range(5)} - {k}, r)]
        weights = np.maximum(rows, 1)
        assert_allclose(found, min(np.average(values[s], weights=weights[s]) for s in subsets))


def test_estimate_is_unbiased(asked):
    model, X_target, y_target = asked
    said = np.array([each.predict(X_target) for each in model.models_.values()])
    exact, found = 100 * np.mean(said == y_target, axis=1), []
    wide = np.sum(said != said[0], axis=1) >= 15  # some of whose rows are always asked for
    for seed in range(500):
        rows = asking_order(said, seed)[0][:15]
        gains = judge(list(model.models_), said, rows, y_target[rows])
        found.append([0.0, *(gain.estimate for gain in gains.values())])
    assert wide.sum() >= 2
    assert_allclose(np.mean(found, axis=0)[wide], (exact - exact[0])[wide], atol=0.6)


def plain_wealth(d, n_rows, mean):
    """Mean over the stakes of the products of bets, a loop over the labels of each."""
    total = 0.0
    for stake in np.linspace(0.05, 0.95, 19):
        money, rest = 1.0, n_rows * mean
        for t, each in enumerate(d):
            expected = rest / (n_rows - t)
            money *= max(1 + stake * (each - expected) / (1 + expected), 0)
            rest -= each
        total += money / 19
    return total


def test_each_number_of_a_gain_is_that_of_other_code():
    rng, n = np.random.default_rng(3), 80
    said = rng.integers(2, size=(4, n))
    said[3] = said[0]  # changes nothing
    rows = rng.permutation(n)[:30]
    labels = np.where(rng.random(30) < 0.6, said[1, rows], 1 - said[1, rows])
    gains, wealths, sizes = judge(["none", *"abc"], said, rows, labels), [], []
    for k, name in enumerate("abc", start=1):
        pairs = list(zip(rows, labels, strict=True))
        d = [1 if said[k, i] == label else -1 for i, label in pairs if said[k, i] != said[0, i]]
        size, gain = sum(said[k] != said[0]), gains[name]
        scale = 100 * size / n
        assert gain.labels == len(d)
        assert_allclose(gain.estimate, scale * np.mean(d) if d else 0)
        assert_allclose(gain.error, scale * np.sqrt(len(d) + 0.5) / max(len(d), 1))
        wealths.append(plain_wealth(d, size, 0.0))
        sizes.append(size)
        if d:
            at = [plain_wealth(d, size, gain.low / scale + off) for off in (-1e-3, 1e-3)]
            assert at[0] > 40 > at[1]  # each side refutes at one in forty
            lost, most = np.negative(d), gain.high / scale
            other = [plain_wealth(lost, size, off - most) for off in (-1e-3, 1e-3)]
            assert other[0] > 40 > other[1]
    assert_allclose([g.evidence for g in gains.values()], adjusted(wealths, sizes), rtol=1e-9)
    untold = judge(["none", *"abc"], said, rows[:0], labels[:0])["a"]
    found = untold.estimate, untold.low, untold.high, untold.error
    assert_allclose(found, np.array([0, -1, 1, np.sqrt(0.5)]) * 100 * sizes[0] / n)


@pytest.mark.parametrize(
    ("error", "evidence", "best", "sure"),
    [(1.9, 20.0, "a", "a"), (2.1, 19.5, "none", "none"), (0.1, 0.0, "a", "none")],
)
def test_half_an_error_or_the_evidence_decides(error, evidence, best, sure):
    gains = {"a": Gain(1.0, 0, 2, error, evidence, 9), "b": Gain(-1.0, -2, 0, 0.1, 99.0, 9)}
    assert (chosen(gains, "best"), chosen(gains, "sure")) == (best, sure)


def test_rows_on_which_all_agree_come_last(asked):
    model, X_target, _ = asked
    said = np.array([each.predict(X_target) for each in model.models_.values()])
    split = np.any(said != said[0], axis=0)
    rows = model.ask(200)
    assert_array_equal(np.sort(rows), np.arange(200))
    assert np.all(split[rows[: split.sum()]])
    assert not np.any(split[rows[split.sum() :]])
    assert_array_equal(model.ask(5), rows[:5])


def test_labels_of_other_rows_change_nothing(asked):
    model, X_target, y_target = asked
    rows = model.ask(12)
    hidden = np.setdiff1d(np.arange(200), rows)
    changed = y_target.copy()
    changed[hidden] = np.random.default_rng(0).permutation(changed[hidden])
    assert np.any(changed != y_target)
    reports, said = [], []
    for labels in (y_target, changed):
        fitted = GuardedDDRClassifier(random_state=0).fit(*problem()[:3])
        fitted.tell(fitted.ask(12), labels[rows])
        reports.append(str(fitted.report_))
        said.append(fitted.predict_proba(X_target))
    assert reports[0] == reports[1]
    assert_array_equal(*said)


@pytest.mark.parametrize("mode", ["best", "sure"])
def test_telling_in_steps_is_telling_at_once(mode):
    X, y, X_target, y_target = problem()
    models = [GuardedDDRClassifier(mode=mode, random_state=0).fit(X, y, X_target) for _ in range(2)]
    rows = models[0].ask(20)
    models[0].tell(rows, y_target[rows])
    for part in (rows[10:], rows[:10]):  # in any order
        models[1].ask(20)
        models[1].tell(part, y_target[part])
    assert str(models[0].report_) == str(models[1].report_)
    assert_allclose(*[model.predict_proba(X_target) for model in models])


def test_all_labels_give_the_exact_gains(asked):
    model, X_target, y_target = asked
    rows = model.ask(200)
    model.tell(rows, y_target[rows])
    scores = {name: each.score(X_target, y_target) for name, each in model.models_.items()}
    for name, gain in model.report_.gains.items():
        assert_allclose(gain.estimate, 100 * (scores[name] - scores["none"]))
        assert gain.low - 1 <= gain.estimate <= gain.high + 1
        assert gain.labels == round(200 * model.report_.changes[name])
    assert scores[model.choice_] == max(scores.values())
    assert model.report_.labels == 200
    assert "such rows are left" not in model.report_.reason


def test_sure_adapts_on_evidence_only():
    X, y, X_target, y_target = problem(400)
    model = GuardedDDRClassifier(mode="sure", random_state=0).fit(X, y, X_target)
    rows = model.ask(60)
    model.tell(rows[:2], y_target[rows[:2]])
    assert model.choice_ == "none"
    assert "do not show" in model.report_.reason
    model.tell(rows[2:], y_target[rows[2:]])
    assert model.choice_ != "none"
    assert model.report_.gains[model.choice_].evidence >= 20
    assert model.estimator_ is model.models_[model.choice_]
    assert model.score(X_target, y_target) > model.models_["none"].score(X_target, y_target)


def test_labels_are_learned_from(asked):
    model, X_target, y_target = asked
    rows = model.ask(40)
    model.tell(rows, y_target[rows])
    chosen = model.models_[model.choice_]
    odds = [np.diff(np.log(each.predict_proba(X_target))) for each in (model, chosen)]
    assert_allclose(np.ptp(odds[0] - odds[1]), 0, atol=1e-6)  # the same offset in each row


def test_a_model_of_ones_own_is_a_candidate():
    X, y, X_target, y_target = problem()
    oracle = LogisticRegression().fit(X_target, y_target)
    model = GuardedDDRClassifier(GaussianNB(), candidates={"mine": oracle}, random_state=0)
    model.fit(X, y, X_target)
    rows = model.ask(60)
    assert model.tell(rows, y_target[rows]).choice_ == "mine"
    assert "Use mine" in model.report_.advice


def test_classes_may_be_words_and_the_first_row_asked_for_may_be_left_out():
    X, y, X_target, y_target = problem()
    names = np.array(["no", "nobody"])
    model = GuardedDDRClassifier(random_state=0).fit(X, names[y], X_target)
    rows = model.ask(5)
    model.tell(rows[1:], names[y_target[rows[1:]]])
    assert model.choice_ == "none"
    assert "0 labels" in model.report_.reason
    model.tell(rows[0], names[y_target[rows[0]]])
    assert "5 labels" in model.report_.reason


@pytest.mark.parametrize(
    ("rows", "labels", "message"),
    [
        (slice(0, 3), [0, 1], r"same length, got \(3,\) rows and \(2,\) labels"),
        (slice(0, 2), [0, 7], r"labels must be classes of y \(0, 1\), got 7"),
        (slice(20, 21), [0], r"rows must be rows that ask\(\) named, got \d+"),
        (slice(0, 1), [[0]], "same length"),
    ],
)
def test_wrong_labels_get_one_sentence(asked, rows, labels, message):
    model = asked[0]
    order = model.ask(30)
    model = GuardedDDRClassifier(random_state=0).fit(*problem()[:3])
    model.ask(10)
    with pytest.raises(ValueError, match=message):
        model.tell(order[rows], labels)


def test_a_row_is_told_once(asked):
    model, _, y_target = asked
    rows = model.ask(3)
    with pytest.raises(ValueError, match=f"rows must each be told once, got {rows[0]} again"):
        model.tell([rows[0], rows[0]], [0, 0])
    model.tell(rows, y_target[rows])
    with pytest.raises(ValueError, match=f"rows must each be told once, got {rows[1]} again"):
        model.tell(rows[1], y_target[rows[1]])
    with pytest.raises(ValueError, match="n must be a whole number of at least 1, got 0"):
        model.ask(0)
