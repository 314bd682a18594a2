"""The search for a protocol: selections are right, what is planted is found, nothing peeks."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import yaml
from companion.evidence import printed as printed_values
from companion.evidence import protocol_search as searching
from companion.evidence import search as pages
from companion.evidence.gains import accuracies
from companion.paths import BOOK
from companion.runs.experiments import draw
from companion.runs.protocols import load_protocol
from companion.runs.responses import (
    PENALTIES,
    BiasedTables,
    CostResponses,
    MemberRun,
    least_squares,
)
from companion.runs.results import published_results
from companion.runs.slips import STARTS, STOPS, SlippedIWLSPC
from companion.runs.variants import NewFoldsSVMCV

from ddr.iwcv import stratified_folds
from ddr.kernels import gaussian_kernel
from ddr.paper.datasets import scale_to_unit_box
from ddr.paper.iwlspc import IWLSPCCV
from ddr.paper.svm import LinearSVMWithPosteriorsCV

CASES = [f"case {i}" for i in range(8)]


@pytest.fixture
def search():
    """A small search: two choices of two levels, three values of C."""
    offered = {"C": {"all": [0.1, 1.0, 10.0], "0.1 and 10": [0.1, 10.0], "1": [1.0]}}
    return {
        "columns": ["Unweighted"],
        "cases": CASES,
        "choices": {
            "resize": {"sharp": {"clip": False}, "soft": {"clip": True}},
            "scaling": {"one": {"scaling": "global"}, "each": {"scaling": "draw"}},
        },
        "selections": offered,
        "set": {"halves": 40, "seed": 1, "level": 0.95, "share": 0.5, "resamples": 200},
        "related": [CASES[:2]],
        "planted": 60,
        "permuted": 40,
    }


def drawn(protocols, runs, seed=0, spread=0.03):
    """Accuracies of protocols that differ, on shared and on own luck."""
    rng = np.random.default_rng(7)
    level = rng.uniform(0.6, 0.9, (protocols, len(CASES), 1))
    own = np.random.default_rng(seed).normal(0, spread, (protocols, len(CASES), runs))
    names = [(f"variant {k}", "") for k in range(protocols)]
    return searching.Candidates(names, [(case, "Unweighted") for case in CASES], level + own)


def print_of(draws):
    mean, sd = searching.moments(draws)
    return pd.DataFrame({"case": CASES, "column": "Unweighted", "mean": mean, "sd": sd})


def test_a_protocol_is_in_the_set_of_its_own_fresh_runs_and_another_is_not(search):
    ours, found = drawn(6, 20), []
    for truth in range(6):
        fresh = print_of(drawn(6, 30, seed=99).draws[truth])
        table, _ = searching.confidence_set(search, fresh, ours)
        members = table.loc[table["member"], "variant"].tolist()
        assert set(members) <= {f"variant {truth}"}
        found += members
    assert len(found) >= 5  # one in twenty is missed by chance


def test_the_set_may_be_empty(search):
    printed = print_of(drawn(6, 30, seed=99).draws[0]).assign(mean=0.5)
    table, trials = searching.confidence_set(search, printed, drawn(6, 20))
    assert not table["member"].any()
    assert (trials.query("trial == 'permuted'")["size"] == 0).mean() > 0.9


def test_truths_on_fresh_streams_are_in_the_set_at_the_stated_rate(search):
    """Many worlds, each with draws and a print of its own; protocols that hardly differ."""
    rng, found = np.random.default_rng(0), []
    cells = [(case, "Unweighted") for case in CASES]
    sides = searching.halves(search, cells)
    for _ in range(150):
        level = 0.8 + rng.normal(0, 0.005, (3, len(CASES), 1))
        ours = searching.Candidates(
            [("a", ""), ("b", ""), ("c", "")],
            cells,
            level + rng.normal(0, 0.03, (3, len(CASES), 12)),
        )
        fresh = level[0] + rng.normal(0, 0.03, (len(CASES), 30))
        most = searching.limits(ours, search, sides, (30, 12))
        passed = searching.passed(
            searching.moments(ours.draws), searching.moments(fresh), most, sides
        )
        found.append(passed[0] >= search["set"]["share"])
    # Limits from a dozen draws are a little narrow; what the search states says so.
    assert 0.7 < np.mean(found) < 0.98
    search |= {"moments": True, "planted": 150}
    _, trials = searching.confidence_set(search, print_of(fresh), ours)
    stated = trials.query("trial == 'planted'")["found"].mean()
    assert stated == pytest.approx(np.mean(found), abs=0.12)


def test_related_cases_never_part(search):
    sides = searching.halves(search, [(case, "Unweighted") for case in CASES])
    assert (sides[:, 0] == sides[:, 1]).all()
    assert (sides[::2] + sides[1::2] == 1).all()
    assert len(np.unique(sides, axis=0)) > 20
    cross = searching.read_search("cross")
    for one, other in searching.groups(cross):
        assert one.partition(" ")[2][-6:] == other.partition(" ")[2][-6:]
        assert one.startswith("USPS")
        assert other.startswith("MNIST")


@pytest.mark.parametrize("name", ["synthetic", "cross"])
def test_our_own_published_tables_are_found_when_they_are_taken_for_print(name):
    """Their streams are not those of the search; a table from outside the search finds nothing."""
    search = searching.read_search(name)
    for protocol, truth in search["own"].items():
        wide = accuracies(published_results(), search["experiment"], protocol)
        table = searching.set_of(search, wide)
        names = (table["variant"] + " | " + table["grid"]).str.removesuffix(" | ")
        if truth == "none":
            assert not table["member"].any()
        else:
            assert table.loc[names == truth, "member"].item()
            assert table["member"].mean() < 0.7


@pytest.mark.parametrize("name", searching.SEARCHES)
def test_no_search_sees_the_columns_that_test_the_method(name, search, monkeypatch):
    """With the uLSIF and DDR columns taken out of the ledger the search still runs, to the same."""
    rules = searching.read_search(name)
    seen = searching.visible(rules)
    assert {column[:6] for column in seen["column"]} <= {"Unweig", "Oracle"}
    ledger = yaml.safe_load((BOOK / "paper_values.yml").read_text(encoding="utf-8"))
    for table in ledger["tables"].values():
        kept = [i for i, column in enumerate(table["columns"]) if "uLSIF" not in column]
        table["columns"] = [table["columns"][i] for i in kept]
        table["rows"] = {case: [cells[i] for i in kept] for case, cells in table["rows"].items()}
    monkeypatch.setattr(printed_values, "ledger", lambda: ledger)
    assert not printed_values.values()["method"].str.contains("uLSIF").any()
    without = searching.visible(rules)
    cells = list(zip(seen["case"], seen["column"], strict=True))
    mean = np.stack([seen["mean"], seen["mean"] + 0.2])
    made = searching.from_moments(
        [("a", ""), ("b", "")], cells, mean, np.stack([seen["sd"]] * 2), 20
    )
    small = rules | {key: search[key] for key in ("set", "planted", "permuted")}
    tables = [searching.confidence_set(small, printed, made)[0] for printed in (seen, without)]
    pd.testing.assert_frame_equal(*tables)
    assert tables[0]["member"].tolist() == [True, False]


def test_a_response_of_the_third_stage_is_what_the_machine_of_the_tables_gives():
    search = searching.read_search("cross") | {"costs": [0.1, 1.0, 10.0]}
    run = CostResponses({"scaling": "draw", "clip": False, "max_samples": 150}, search)
    case = "USPS to MNIST 5 vs 6"
    found = pd.DataFrame(run(case, 0)).assign(case=case, draw=0, variant="one")
    problem, fold_seed = run.draw(case, 0)
    folds = int(fold_seed.generate_state(1)[0])
    model = LinearSVMWithPosteriorsCV([0.1, 1.0, 10.0], random_state=folds)
    model.fit(problem.X_train, problem.y_train)
    shared = found[found["folds"] == "shared"]
    for by in ("posterior", "decision"):
        own = shared[shared["by"] == by]
        assert own["risk"].tolist() == pytest.approx(model.cv_scores_.tolist(), abs=0.01)
        score = model.set_params(predict_by=by).score(problem.X_test, problem.y_test)
        chosen = searching.selected(found, [0.1, 1.0, 10.0], "shared", by)
        assert chosen["candidate"].item() == model.best_C_
        assert chosen["accuracy"].item() == pytest.approx(score, abs=0.01)
    new = found[found["folds"] == "new"]
    assert new["risk"].tolist() != shared["risk"].tolist()


def test_a_search_is_taken_up_again(tmp_path, monkeypatch):
    search = searching.read_search("cross")
    small = {"resize": "nearest", "max_samples": 60}
    search |= {
        "cases": search["cases"][:2],
        "choices": {"resize": {"small": small}, "scaling": {"one": {"scaling": "global"}}},
        "going": ["small | one"],
        "costs": [0.1, 1.0],
        "selections": search["selections"] | {"values of C": {"both": [0.1, 1.0]}},
        "draws": 4,
        "related": [],
    }
    said = []
    first = searching.compute(search, tmp_path / "runs", said.append, jobs=1)
    assert first["search"]["grid"].nunique() == len(searching.grids(search)) == 4
    assert (first["search"]["draws"] == 4).all()
    assert set(first["trials"]["trial"]) == {"planted", "permuted"}
    assert said[0] == "1 variant"
    monkeypatch.setattr(CostResponses, "__call__", None)  # nothing may be computed
    again = searching.compute(search, tmp_path / "runs", said.append, jobs=1)
    for kind in first:
        pd.testing.assert_frame_equal(again[kind], first[kind])


def test_a_published_response_of_the_first_stage_is_computed_again():
    """By the machine of the tables, with shared folds and called by its side."""
    search = searching.read_search("cross") | {"costs": [0.1, 1.0, 10.0]}
    responses, case = searching.published("cross", "responses"), "USPS to MNIST 0 vs 1"
    variant = responses["variant"].iloc[0]
    stored = responses.query("stage == 'screen' and variant == @variant and case == @case")
    rows = CostResponses(searching.variants(search)[variant], search)(case, 0)
    again = [row for row in rows if (row["folds"], row["by"]) == ("shared", "decision")]
    for column in ("accuracy", "risk"):
        assert [row[column] for row in again] == pytest.approx(stored[column].tolist(), abs=5e-3)


def test_the_last_stage_has_the_three_best_variants_of_the_second():
    """By the rule of the search, from the responses that were published."""
    search, table = searching.read_search("cross"), searching.published("cross")
    responses = searching.published("cross", "responses").query("stage == 'second'")
    printed = searching.visible(search).set_index("case")[["mean", "sd"]]
    scores = {}
    for values in search["screened"]["values of C"].values():
        chosen = searching.selected(responses, values).groupby(["variant", "case"])["accuracy"]
        for variant, found in chosen.agg(["mean", "std"]).groupby(level="variant"):
            off = found.droplevel("variant").set_axis(["mean", "sd"], axis=1) - printed
            score = np.sqrt(np.mean(off["mean"] ** 2 + off["sd"] ** 2))
            scores[variant] = min(score, scores.get(variant, 1))
    best = sorted(scores, key=scores.get)[:3]
    assert set(table["variant"]) == set(search["going"]) == set(best)
    assert (table["draws"] == search["draws"]).all()


# Biased sampling: response tables


@pytest.fixture
def biased():
    """The rules of the biased search, with two directions only."""
    return searching.read_search("biased") | {"omegas": 2}


def rule_of(search, **levels):
    """The first level of every selection, some of them changed."""
    chosen = {choice: next(iter(options)) for choice, options in search["selections"].items()}
    chosen |= levels
    return {choice: search["selections"][choice][level] for choice, level in chosen.items()}


def test_a_table_is_what_the_learner_gives(biased):
    """Against the package's learner on the same rows, widths and penalties."""
    from companion.runs.experiments import load_case

    rng = np.random.default_rng(0)
    table = load_case("BreastCancer")
    X, y = scale_to_unit_box(table.X), np.unique(table.y, return_inverse=True)[1]
    rows, test = np.split(rng.permutation(len(y)), [250])
    weight = rng.uniform(0.5, 2.0, len(rows))
    centers, folds = np.unique(X[test[:60]], axis=0), stratified_folds(y[rows], 5, 0)
    kernels = (gaussian_kernel(X[part], centers, 1.5) for part in (rows, test))
    found = least_squares(next(kernels), y[rows], weight, next(kernels), y[test], folds)
    for loss, column in (("zero_one", 1), ("squared", 4)):
        model = IWLSPCCV(sigmas=[1.5], lams=PENALTIES[6:], centers=centers, cv=folds, loss=loss)
        model.fit(X[rows], y[rows], weight)
        assert found[6:, column] == pytest.approx(model.cv_scores_[0], abs=1e-8)
        chosen = list(PENALTIES).index(model.best_lam_)
        assert found[chosen, 0] == pytest.approx(model.score(X[test], y[test]), abs=1e-12)


def test_tables_of_a_search_are_taken_up_again(biased, tmp_path, monkeypatch):
    choices = {"strength": {"4": {"strength": 4.0, "max_rows": 60}}}
    choices |= {"ideal": {"as they are": {"scaled": False}, "mean 1": {}}}  # share their tables
    search = biased | {"cases": ["Ionosphere"], "choices": choices, "draws": 4, "related": []}
    levels = {
        choice: dict(list(found.items())[:1]) for choice, found in biased["selections"].items()
    }
    search |= {"selections": levels, "planted": 4, "permuted": 4}
    arguments = search, tmp_path / "runs", print
    first = searching.compute(*arguments)["search"]
    assert len(list(tmp_path.glob("runs/*/*.gz"))) == 4
    assert len(first) == 2 * len(searching.grids(search))
    assert first.filter(like="mean|").stack().between(0, 1).all()
    monkeypatch.setattr(BiasedTables, "__call__", None)  # nothing may be computed
    pd.testing.assert_frame_equal(searching.compute(*arguments)["search"], first)


def test_selections_take_what_their_words_say(biased):
    """A made-up table in which each quantity tells its own tale."""
    tables = np.zeros((1, 2, 2, 2, 12, len(PENALTIES), 7))
    lam = {value: list(PENALTIES.round(12)).index(value) for value in (0.1, 1.0, 10.0)}
    risk = tables[..., 1]
    risk[:] = 1
    risk[..., 3, lam[0.1]] = risk[..., 3, lam[10.0]] = 0.2  # equal risks at the median width
    tables[..., 4] = 1
    tables[..., 3, lam[1.0], 4] = 0  # the squared loss prefers the penalty between
    for place, value in enumerate((0.1, 1.0, 10.0)):
        tables[..., 3, lam[value], 0] = 0.5 + 0.1 * place
    tables[0, 1, 0, 1, ..., 0] -= 0.3  # ideal weights harm most in the second direction
    tables[:, :, 1, ..., 0] += 0.01  # the set drawn again

    def taken(**levels):
        rule = rule_of(biased, **levels)
        return searching.chosen_accuracies(biased, "Diabete", {}, tables, rule)[0].round(4).tolist()

    assert taken() == [0.71, 0.71]
    assert taken(**{"of equal risks": "the least smooth"}) == [0.51, 0.51]
    assert taken(loss="squared") == [0.61, 0.61]
    assert taken(**{"training set after the choice": "the one that chose"}) == [0.7, 0.7]
    levels = {
        "training set after the choice": "the one that chose",
        "gap of a direction": "absolute",
    }
    assert taken(**levels) == [0.7, 0.4]
    assert taken(**{"where no class is likely": "first class"}) == [0.0, 0.0]


def test_one_direction_for_all_runs_has_the_largest_mean_gap(biased):
    tables = np.zeros((2, 2, 2, 2, 12, len(PENALTIES), 7))
    tables[0, 0, :, 1, ..., 0] = 0.3  # the first run alone would take the first direction
    tables[0, 1, :, 1, ..., 0] = 0.2
    tables[1, 1, :, 1, ..., 0] = 0.4
    rule = rule_of(biased)
    for options, expected in (({}, [0.3, 0.4]), ({"directions": "once"}, [0.2, 0.4])):
        found = searching.chosen_accuracies(biased, "Diabete", options, tables, rule)
        assert found[:, 1] == pytest.approx(expected, abs=1e-6)


def test_a_slip_takes_the_accuracy_of_another_kernel_and_the_risk_of_its_own():
    search = searching.read_search("biased-kernels") | {"omegas": 2}
    widths = search["widths"]["relative"]
    tables = np.zeros((1, 2, 2, 2, len(widths), len(PENALTIES), 7))
    lam = list(PENALTIES.round(12)).index(10.0)
    tables[..., 1] = tables[..., 5] = tables[..., 6] = 1
    tables[..., 1, lam, 1] = 0  # the second width is chosen, with the penalty 10
    tables[..., 3, lam, 5] = 0  # by the first class alone it would be the fourth
    tables[..., 0] = np.arange(len(widths))[:, None] / 10 + (np.arange(len(PENALTIES)) == lam) / 100

    def taken(**levels):
        rule = rule_of(search, **levels)
        return searching.chosen_accuracies(search, "Diabete", {}, tables, rule)[0, 0].round(4)

    assert taken() == 0.11
    assert taken(**{"final kernel": "the widest"}) == 0.41
    assert taken(**{"final kernel": "the median"}) == 0.41
    assert taken(**{"final kernel": "the widest", "width of the learner": "0.1 to 2"}) == 0.61
    assert taken(**{"scored on": "the first class"}) == 0.31


def test_a_slipped_learner_differs_from_the_right_one_by_its_slip_alone():
    X, y = np.random.default_rng(0).normal(size=(120, 2)), np.arange(120) % 3 == 0
    X[y] += 1.5
    widths, options = [0.3, 1.0, 3.0], {"centers": X[:40], "random_state": 0}
    right = IWLSPCCV(widths, [0.1, 1.0], **options).fit(X, y)
    same = SlippedIWLSPC(widths, [0.1, 1.0], **options).fit(X, y)
    np.testing.assert_allclose(same.predict_proba(X), right.predict_proba(X))
    slip = SlippedIWLSPC(widths, [0.1, 1.0], final="widest", **options).fit(X, y)
    fitted = IWLSPCCV([3.0], [right.best_lam_], centers=X[:40]).fit(X, y)
    np.testing.assert_allclose(slip.predict_proba(X), fitted.predict_proba(X))


@pytest.mark.parametrize(
    ("information", "kept"),
    [
        ([1, 2, 3, 2, 5], (2, 2, 4, 4)),
        ([3, 2, 1, 0, 0], (1, 0, 1, 0)),
        ([1, 0, 2, 1, 0], (2, 0, 2, 2)),
    ],
)
def test_the_state_that_is_kept(information, kept):
    states = [SimpleNamespace(information=value) for value in information]
    found = [keep(states, 10, first)[1] for keep in STOPS.values() for first in STARTS.values()]
    assert tuple(found) == kept


# Members of Table 4's set, and DDR's inner choices


@pytest.fixture(scope="module")
def members():
    """Protocols of the members, with what calls their rows."""
    search, table = searching.read_search("cross"), searching.published("cross")
    return list(searching.members_of(search, table[table["member"] == 1]))


def test_a_member_differs_from_the_published_one_as_its_name_says(members):
    names = {protocol["protocol"] for protocol, _ in members}
    assert len(set(members_key(members))) == len(members) == 8
    assert len(names) == 4  # each called in two ways
    like = load_protocol("cross", "four-costs")
    same = [p for p, _ in members if {**p, "protocol": 0} == few(like)]
    assert {p["protocol"].rpartition(" | ")[0][-25:] for p in same} == {"1/4 to 16, powers of four"}
    for protocol, _ in members:
        assert protocol["seed"] == like["seed"]
        assert ("new for each C" in protocol["protocol"]) == ("folds" in protocol["learner"])


def members_key(members):
    return [(protocol["protocol"], by) for protocol, by in members]


def few(protocol):
    """A protocol as a member has it: without DDR, its name aside."""
    kept = {key: value for key, value in protocol.items() if key != "ddr"}
    return kept | {"protocol": 0, "methods": ["Unweighted", "uLSIF"]}


def test_a_member_run_is_what_the_published_protocol_gives(members):
    """Called by the side of the machine it is the published row; by posterior, the same machine."""
    like, case = load_protocol("cross", "four-costs"), "MNIST to USPS 0 vs 1"
    protocol = next(p for p, _ in members if {**p, "protocol": 0} == few(like))
    rows = pd.DataFrame(MemberRun(protocol)(case, 3)).set_index("method")["accuracy"]
    published = accuracies(published_results(), "cross", "four-costs").loc[(case, 3)]
    for method in ("Unweighted", "uLSIF"):
        assert rows[f"{method}: decision"] == pytest.approx(published[method], abs=5e-3)
    problem, learner, _ = draw(protocol, case, 3)
    model = learner.set_params(predict_by="posterior").fit(problem.X_train, problem.y_train)
    assert rows["Unweighted: posterior"] == model.score(problem.X_test, problem.y_test)


def test_new_folds_for_each_value_choose_as_the_responses_of_the_search_do(monkeypatch):
    """The machine draws its folds as the search does, but for the one that is shared there."""
    Cs, case = [0.125, 0.5, 2.0, 8.0], "USPS to MNIST 5 vs 6"
    run = CostResponses({"scaling": "draw", "max_samples": 150}, {
        **searching.read_search("cross"), "costs": Cs})  # fmt: skip
    problem, _ = run.draw(case, 0)
    states = [0, *np.random.SeedSequence(7).generate_state(len(Cs))]
    folds = SimpleNamespace(generate_state=lambda n: states[:n])
    monkeypatch.setattr(run, "draw", lambda *_: (problem, folds))
    responses = pd.DataFrame(run(case, 0)).assign(case=case, draw=0, variant="one")
    machine = NewFoldsSVMCV(Cs, random_state=7).fit(problem.X_train, problem.y_train)
    for by in ("posterior", "decision"):
        chosen = searching.selected(responses, Cs, "new", by)
        score = machine.set_params(predict_by=by).score(problem.X_test, problem.y_test)
        assert chosen["candidate"].item() == machine.best_C_
        assert chosen["accuracy"].item() == score


def runs_as(printed, experiment, protocol, method, shift=0.0, runs=30):
    """Runs with just the printed means and sds, or off by so much."""
    scores = np.tile([-1.0, 1.0], runs // 2) * np.sqrt((runs - 1) / runs)
    return pd.DataFrame(
        {
            "experiment": experiment, "protocol": protocol, "method": method, "case": cell.case,
            "seed": range(runs), "accuracy": cell.mean + shift + cell.sd * scores,
        }
        for cell in printed.itertuples()
    ).explode(["seed", "accuracy"]).astype({"accuracy": float, "seed": int})  # fmt: skip


def test_members_are_ranked_by_how_near_the_column_of_ulsif_is(members):
    """Made-up runs: the third as printed, the others off by more and more."""
    printed = printed_values.values("cross").query("method == 'uLSIF'")
    order = [members[k] for k in (2, 5, 0, 7, 1, 3, 4, 6)]
    parts = [
        runs_as(printed, "cross", p["protocol"], f"uLSIF: {by}", 0.01 * place)
        for place, (p, by) in enumerate(order)
    ]
    published = published_results()
    made = pd.concat([published[~published["protocol"].str.startswith("member:")], *parts])
    found = pages.ranked(made)
    misses = [miss for _, _, miss, _ in found]
    assert misses == pytest.approx([0.01 * place for place in range(8)], abs=1e-9)
    names = (searching.published("cross").query("member == 1")["grid"]).to_list()
    assert found[0][0].split("; ")[-1] == names[2].rpartition(" | ")[2]
    assert misses[0] <= found[0][3] < misses[-1]
    said, table = pages.nearest_member(made).data, pages.ranking(made).data
    assert f"*{found[0][0]}* comes nearest of 8 members" in said
    assert "by 0.0 points" in said
    assert "the last by 7.0" in said
    rows = [line for line in table.splitlines() if "p = " in line]
    assert "| 20, 0, 0 | +0.00 |" in rows[0]
    assert "| +7.00 |" in rows[-1]


def test_ddr_is_chosen_on_one_half_and_judged_on_the_other():
    """Made-up runs: a choice that is right where it is chosen and wrong elsewhere is no nearer."""
    search, published = searching.read_search("cross"), published_results()
    printed = printed_values.values("cross").query("method == 'DDR-uLSIF'")
    half = printed["case"].str.endswith(tuple(search["ddr_choice"]))
    assert half.sum() == 10
    name, method = "universe:stop-weights", "DDR-uLSIF"
    mine = (published["protocol"] == name) & (published["method"] == method)
    for elsewhere, nearer in ((0.2, False), (0.001, True)):
        parts = [
            runs_as(cells, "cross", name, method, shift, 4)
            for cells, shift in ((printed[half], 0.0), (printed[~half], elsewhere))
        ]
        made = pd.concat([published[~mine | (published["experiment"] != "cross")], *parts])
        found = pages.inner(made, "cross").query("protocol == 'matched'").set_index("choice")
        chosen = found.loc["stopping when the weights settle"]
        assert chosen["chosen"]
        assert found["chosen"].sum() == 1
        assert chosen["chosen_on"] == pytest.approx(0, abs=1e-9)
        assert chosen["judged_on"] == pytest.approx(elsewhere, abs=1e-9)
        said = pages.inner_reading(made, "cross").data
        assert ("*matched*" in said) == nearer
        assert "**stopping when the weights settle**" in pages.inner_choices(made, "cross").data


def test_the_lead_lives_or_falls_by_mnist_alone():
    published, printed = published_results(), printed_values.values("biased")
    printed = printed.query("method == 'DDR-uLSIF' and case.str.startswith('MNIST')")
    ddr = published["method"].str.startswith("DDR-uLSIF: ") & published["case"].isin(
        printed["case"]
    )
    slips = published[published["protocol"].str.startswith("slip:") & ddr]
    for shift, word in ((0.0, "survives"), (0.019, "survives"), (0.1, "falls")):
        parts = [
            runs_as(printed, "biased", *name, shift)
            for name in slips[["protocol", "method"]].drop_duplicates().to_numpy()
        ]
        made = pd.concat([published.drop(slips.index), *parts])
        said = pages.lead(made).data
        assert said.startswith("Of 3 candidates")  # the kernel of *cv* is the one that was scored
        assert f"the lead **{word}**" in said
