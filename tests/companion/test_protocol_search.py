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
from companion.runs.experiments import Run, draw, load_case
from companion.runs.protocols import changed, load_protocol
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
from paper_runs import runs_like_the_paper

from ddr.iwcv import stratified_folds
from ddr.kernels import gaussian_kernel
from ddr.paper.datasets import scale_to_unit_box
from ddr.paper.iwlspc import IWLSPCCV
from ddr.paper.svm import LinearSVMWithPosteriorsCV

CASES = [f"case {i}" for i in range(8)]


@pytest.fixture
def search():
    """The rule of a small search."""
    return {
        "cases": CASES,
        "columns": ["Unweighted"],
        "set": {"halves": 40, "seed": 1, "level": 0.95, "share": 0.5, "resamples": 200},
        "related": [CASES[:2]],
        "planted": 60,
        "permuted": 40,
    }


def drawn(protocols, runs, seed=0):
    """Names and accuracies of protocols that differ, on luck of their own."""
    level = np.random.default_rng(7).uniform(0.6, 0.9, (protocols, len(CASES), 1))
    own = np.random.default_rng(seed).normal(0, 0.03, (protocols, len(CASES), runs))
    return [(f"variant {k}", "") for k in range(protocols)], level + own


def print_of(draws):
    mean, sd = searching.moments(draws)
    return pd.DataFrame({"case": CASES, "column": "Unweighted", "mean": mean, "sd": sd})


def test_a_protocol_is_in_the_set_of_its_own_fresh_runs_and_another_is_not(search):
    ours, found = drawn(6, 20), []
    for truth in range(6):
        fresh = print_of(drawn(6, 30, seed=99)[1][truth])
        table, trials = searching.confidence_set(search, fresh, *ours)
        members = table.loc[table["member"], "variant"].tolist()
        assert set(members) <= {f"variant {truth}"}
        found += members
        assert (trials.query("trial == 'permuted'")["size"] == 0).mean() > 0.9
    assert len(found) >= 5  # one in twenty is missed by chance
    nobody, _ = searching.confidence_set(search, fresh.assign(mean=0.5), *ours)
    assert not nobody["member"].any()


def test_truths_on_fresh_streams_are_in_the_set_at_the_stated_rate(search):
    """Many worlds, each with draws and a print of its own; protocols that hardly differ."""
    rng, found, rule = np.random.default_rng(0), [], search["set"]
    sides = searching.halves(search)
    for _ in range(150):
        level = 0.8 + rng.normal(0, 0.005, (3, len(CASES), 1))
        draws = level + rng.normal(0, 0.03, (3, len(CASES), 12))
        fresh = level[0] + rng.normal(0, 0.03, (len(CASES), 30))
        most = searching.limits(draws, rule, sides, (30, 12))
        moments = searching.moments(draws), searching.moments(fresh)
        found.append(searching.passed(*moments, most, sides)[0] >= rule["share"])
    # Limits from a dozen draws are a little narrow; what the search states says so.
    assert 0.7 < np.mean(found) < 0.98
    search |= {"moments": True, "planted": 150}
    names = [("a", ""), ("b", ""), ("c", "")]
    _, trials = searching.confidence_set(search, print_of(fresh), names, draws)
    stated = trials.query("trial == 'planted'")["found"].mean()
    assert stated == pytest.approx(np.mean(found), abs=0.12)


def test_related_cases_never_part(search):
    sides = searching.halves(search)
    assert (sides[:, 0] == sides[:, 1]).all()
    assert (sides[::2] + sides[1::2] == 1).all()
    assert len(np.unique(sides, axis=0)) > 20
    for one, other in searching.groups(searching.read_search("cross")):
        assert one.partition(" ")[2][-6:] == other.partition(" ")[2][-6:]
        assert (one[:4], other[:5]) == ("USPS", "MNIST")


@pytest.mark.parametrize("name", ["synthetic", "cross"])
def test_our_own_published_tables_are_found_when_they_are_taken_for_print(name):
    """Their streams are not those of the search; a table from outside the search finds nothing."""
    search, table = searching.read_search(name), searching.published(name)
    for protocol, truth in search["own"].items():
        members = table[f"own|{protocol}"] >= search["set"]["share"]
        assert members.any() if truth != "none" else not members.any()
        assert members.set_axis(searching.names_of(table)).get(truth, default=True)
        assert members.mean() < 0.7


def test_our_own_table_is_taken_for_print_cell_by_cell():
    search = searching.read_search("cross")
    mean, sd = searching.own_print(search, "tuned")
    case, column = searching.cells_of(search)[7]
    runs = published_results().query("experiment == 'cross' and protocol == 'tuned'")
    runs = runs[(runs["case"] == case) & (runs["method"] == column)]["accuracy"]
    assert (mean[7], sd[7]) == (pytest.approx(runs.mean()), pytest.approx(runs.std()))


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
    cells = seen.set_index(["case", "column"]).loc[searching.cells_of(rules)]
    mean, sd = np.stack([cells["mean"], cells["mean"] + 0.2]), np.stack([cells["sd"]] * 2)
    scores = np.random.default_rng(0).standard_normal((2, len(cells), 20))
    made = [("a", ""), ("b", "")], mean[..., None] + sd[..., None] * scores
    small = rules | {key: search[key] for key in ("set", "planted", "permuted")}
    tables = [
        searching.confidence_set(small, printed, *made)[0]
        for printed in (seen, searching.visible(rules))
    ]
    pd.testing.assert_frame_equal(*tables)
    assert tables[0]["member"].tolist() == [True, False]


def rule_of(search, **levels):
    """The first level of every selection, some of them changed."""
    chosen = {choice: next(iter(options)) for choice, options in search["selections"].items()}
    chosen |= levels
    return {choice: search["selections"][choice][level] for choice, level in chosen.items()}


SMALL_CHOICES = {
    "synthetic": {"prior": {"equal": {"learner": {"priors": [0.5, 0.5]}}}},
    "cross": {"digits": {"few": {"resize": "nearest", "max_samples": 60}}},
    "biased": {  # two variants that share their tables
        "rows": {"few": {"strength": 4.0, "max_rows": 60}},
        "ideal": {"as it is": {"scaled": False}, "mean one": {}},
    },
}


def small_search(name):
    """A search with few cases, draws and levels."""
    search = searching.read_search(name) | {"choices": SMALL_CHOICES[name]}
    levels = {choice: dict([*of.items()][:1]) for choice, of in search["selections"].items()}
    search |= {"selections": levels, "costs": [0.1, 1.0], "omegas": 2}
    search |= {"draws": 4, "related": [], "planted": 4, "permuted": 4}
    cases = ["Ionosphere", "Diabete"] if name == "biased" else search["cases"][:2]
    return search | {"cases": cases, "going": searching.variants(search)}


@pytest.mark.parametrize("name", SMALL_CHOICES)
def test_a_search_is_taken_up_again(name, tmp_path, monkeypatch):
    search, said = small_search(name), []
    first = searching.compute(search, tmp_path / "runs", said.append, jobs=1)
    found = first["search"]
    assert said[0] == "responses of 1 variant"
    assert len(list(tmp_path.glob("runs/*/*.gz"))) == 4 * 2
    assert len(found) == len(searching.variants(search))
    assert (found["draws"] == 4).all()
    assert set(first["trials"]["trial"]) == {"planted", "permuted"}
    if name == "synthetic":  # each cell has the runs of its case and column
        [variant] = searching.variants(search).values()
        names = {"methods": search["columns"], "seed": search["seed"]}
        run = Run(changed(load_protocol("synthetic"), **names, **variant))
        for case in search["cases"]:
            rows = pd.DataFrame(row for number in range(4) for row in run(case, number))
            for column, own in rows.groupby("method")["accuracy"]:
                assert found[f"mean|{case}|{column}"].item() == pytest.approx(own.mean(), abs=1e-4)
                assert found[f"sd|{case}|{column}"].item() == pytest.approx(own.std(), abs=1e-4)
    for kind in (Run, BiasedTables, CostResponses):
        monkeypatch.setattr(kind, "__call__", None)  # nothing may be computed
    again = searching.compute(search, tmp_path / "runs", said.append, jobs=1)
    for kind in first:
        pd.testing.assert_frame_equal(again[kind], first[kind])


def test_responses_of_the_digits_are_what_the_machines_of_the_tables_give(monkeypatch):
    """With the folds of the search; of new ones the machine has all but the one shared there."""
    Cs, case = [0.1, 1.0, 10.0], "USPS to MNIST 2 vs 3"
    options = {"scaling": "draw", "clip": False, "max_samples": 150}
    run = CostResponses(options, searching.read_search("cross") | {"costs": Cs})
    problem, _ = run.draw(case, 0)
    states = [5, *np.random.SeedSequence(7).generate_state(len(Cs))]
    folds = SimpleNamespace(generate_state=lambda n: states[:n])
    monkeypatch.setattr(run, "draw", lambda *_: (problem, folds))
    found = pd.DataFrame(run(case, 0)).assign(case=case, draw=0, variant="one")
    machines = {"shared": LinearSVMWithPosteriorsCV(Cs, random_state=5)}
    machines["new"] = NewFoldsSVMCV(Cs, random_state=7)
    for kind, machine in machines.items():
        machine.fit(problem.X_train, problem.y_train)
        for by in ("posterior", "decision"):
            chosen = searching.selected(found, Cs, kind, by)
            score = machine.set_params(predict_by=by).score(problem.X_test, problem.y_test)
            assert chosen["candidate"].item() == machine.best_C_
            assert chosen["accuracy"].item() == pytest.approx(score, abs=0.01)
            assert chosen["risk"].item() == pytest.approx(machine.best_score_, abs=0.01)
    assert machines["new"].best_score_ != machines["shared"].best_score_


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


def test_a_table_is_what_the_learner_gives():
    """Against the package's learner on the same rows, widths and penalties."""
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


LAMBDA = {value: list(PENALTIES.round(12)).index(value) for value in (0.1, 1.0, 10.0)}


def test_selections_take_what_their_words_say():
    """A made-up table in which each quantity tells its own tale."""
    tables = np.zeros((1, 2, 2, 2, 12, len(PENALTIES), 7))
    risk = tables[..., 1]
    risk[:] = 1
    risk[..., 3, LAMBDA[0.1]] = risk[..., 3, LAMBDA[10.0]] = 0.2  # equal risks at the median width
    tables[..., 4] = 1
    tables[..., 3, LAMBDA[1.0], 4] = 0  # the squared loss prefers the penalty between
    for place, column in enumerate(LAMBDA.values()):
        tables[..., 3, column, 0] = 0.5 + 0.1 * place
    tables[0, 1, 0, 1, ..., 0] -= 0.3  # ideal weights harm most in the second direction
    tables[:, :, 1, ..., 0] += 0.01  # the set drawn again
    search = searching.read_search("biased")

    def taken(**levels):
        rule = rule_of(search, **levels)
        return searching.chosen_accuracies(search, "Diabete", {}, tables, rule)[0].round(4).tolist()

    assert taken() == [0.71, 0.71]
    assert taken(**{"of equal risks": "the least smooth"}) == [0.51, 0.51]
    assert taken(loss="squared") == [0.61, 0.61]
    same = {"training set after the choice": "the one that chose"}
    assert taken(**same) == [0.7, 0.7]
    assert taken(**same, **{"gap of a direction": "absolute"}) == [0.7, 0.4]
    assert taken(**{"where no class is likely": "first class"}) == [0.0, 0.0]


def test_one_direction_for_all_runs_has_the_largest_mean_gap():
    tables = np.zeros((2, 2, 2, 2, 12, len(PENALTIES), 7))
    tables[0, 0, :, 1, ..., 0] = 0.3  # the first run alone would take the first direction
    tables[0, 1, :, 1, ..., 0] = 0.2
    tables[1, 1, :, 1, ..., 0] = 0.4
    search = searching.read_search("biased")
    for options, expected in (({}, [0.3, 0.4]), ({"directions": "once"}, [0.2, 0.4])):
        rule = rule_of(search)
        found = searching.chosen_accuracies(search, "Diabete", options, tables, rule)
        assert found[:, 1] == pytest.approx(expected, abs=1e-6)


def test_a_slip_takes_the_accuracy_of_another_kernel_and_the_risk_of_its_own():
    search, lam = searching.read_search("biased-kernels"), LAMBDA[10.0]
    widths = search["widths"]["relative"]
    tables = np.zeros((1, 2, 2, 2, len(widths), len(PENALTIES), 7))
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


@pytest.fixture(scope="module")
def members():
    """Protocols of the members, with what calls their rows."""
    search, table = searching.read_search("cross"), searching.published("cross")
    return list(searching.members_of(search, table[table["member"] == 1]))


def test_a_member_is_the_published_protocol_as_its_name_says(members):
    """Called by the side of the machine it is the published row; by posterior, the same machine."""
    like, case = load_protocol("cross", "four-costs"), "MNIST to USPS 0 vs 1"
    assert len({(p["protocol"], by) for p, by in members}) == len(members)
    assert len(members) > len({p["protocol"] for p, _ in members}) == 4  # called in two ways
    assert all(("new for each C" in p["protocol"]) == ("folds" in p["learner"]) for p, _ in members)
    few = changed(like, methods=["Unweighted", "uLSIF"], ddr=None, protocol="")
    [protocol] = [p for p, by in members if {**p, "protocol": ""} == few and by == "decision"]
    assert "| 1/4 to 16, powers of four |" in protocol["protocol"]
    rows = pd.DataFrame(MemberRun(protocol)(case, 3)).set_index("method")["accuracy"]
    published = accuracies(published_results(), "cross", "four-costs").loc[(case, 3)]
    for method in ("Unweighted", "uLSIF"):
        assert rows[f"{method}: decision"] == pytest.approx(published[method], abs=5e-3)
    problem, learner, _ = draw(protocol, case, 3)
    model = learner.set_params(predict_by="posterior").fit(problem.X_train, problem.y_train)
    assert rows["Unweighted: posterior"] == model.score(problem.X_test, problem.y_test)


def runs_as(like, name, shift=0.0, n=30):
    """Runs of an experiment's method under another name, as printed or off by so much."""
    runs = runs_like_the_paper(like[0], n, shift, protocol=name[0])
    return runs[runs["method"] == like[1]].assign(method=name[1])


def test_members_are_ranked_by_how_near_the_column_of_ulsif_is(members):
    """Made-up runs: the third as printed, the others off by more and more."""
    order = members[2:] + members[:2]
    parts = [
        runs_as(("cross", "uLSIF"), (p["protocol"], f"uLSIF: {by}"), 0.01 * place)
        for place, (p, by) in enumerate(order)
    ]
    published = published_results()
    made = pd.concat([published[~published["protocol"].str.startswith("member:")], *parts])
    found = pages.ranked(made)
    misses = [miss for _, _, miss, _ in found]
    assert misses == pytest.approx([0.01 * place for place in range(len(members))], abs=1e-9)
    names = searching.published("cross").query("member == 1")["grid"].to_list()
    assert found[0][0].split("; ")[-1] == names[2].rpartition(" | ")[2]
    assert misses[0] <= found[0][3] < misses[-1]
    said = pages.nearest_member(made).data
    assert f"*{found[0][0]}* comes nearest of {len(members)} members" in said
    assert "by 0.0 points" in said
    assert f"the last by {len(members) - 1}.0" in said
    first, *_, last = (line for line in pages.ranking(made).data.splitlines() if "p = " in line)
    assert "| 20, 0, 0 | +0.00 |" in first
    assert f"| +{len(members) - 1}.00 |" in last


@pytest.mark.parametrize(("elsewhere", "nearer"), [(0.2, False), (0.001, True)])
def test_ddr_is_chosen_on_one_half_and_judged_on_the_other(elsewhere, nearer):
    """Made-up runs: a choice that is right where it is chosen and wrong elsewhere is no nearer."""
    search, published = searching.read_search("cross"), published_results()
    name, method = "universe:stop-weights", "DDR-uLSIF"
    mine = published[["experiment", "protocol", "method"]] == ["cross", name, method]
    runs = runs_as(("cross", method), (name, method), n=4)
    half = runs["case"].str.endswith(tuple(search["ddr_choice"]))
    assert runs[half]["case"].nunique() == 10
    runs["accuracy"] += elsewhere * ~half
    made = pd.concat([published[~mine.all(axis=1)], runs])
    found = pages.inner(made, "cross").query("protocol == 'matched'").set_index("choice")
    chosen = found.loc["stopping when the weights settle"]
    assert chosen["chosen"]
    assert found["chosen"].sum() == 1
    assert chosen["chosen_on"] == pytest.approx(0, abs=1e-9)
    assert chosen["judged_on"] == pytest.approx(elsewhere, abs=1e-9)
    assert ("*matched*" in pages.inner_reading(made, "cross").data) == nearer
    assert "**stopping when the weights settle**" in pages.inner_choices(made, "cross").data


@pytest.mark.parametrize(
    ("shift", "word"), [(0.0, "survives"), (0.019, "survives"), (0.1, "falls")]
)
def test_the_lead_lives_or_falls_by_mnist_alone(shift, word):
    published = published_results()
    slips = published.query(
        "protocol.str.startswith('slip:') and method.str.startswith('DDR-uLSIF: ') "
        "and case.str.startswith('MNIST')"
    )
    names = slips[["protocol", "method"]].drop_duplicates().to_numpy()
    parts = [runs_as(("biased", "DDR-uLSIF"), name, shift) for name in names]
    made = pd.concat(parts).query("case.str.startswith('MNIST')")
    said = pages.lead(pd.concat([published.drop(slips.index), made])).data
    assert said.startswith("Of 3 candidates")  # the kernel of *cv* is the one that was scored
    assert f"the lead **{word}**" in said
