"""What each notebook answers from the published runs: three lines at its head, sentences, tables.

Everything is computed, so that it stays true when the stored runs change.
"""

import numpy as np
import pandas as pd
from sklearn.naive_bayes import GaussianNB

from companion.evidence import gains, protocol_search
from companion.evidence.gains import METHOD, NO_WEIGHTS, RIVAL
from companion.evidence.multiverse import protocol_of, universe_name
from companion.evidence.printed import printed_gains, printed_means
from companion.evidence.tables import points, with_interval
from companion.paths import BOOK, EXPERIMENTS, PROTOCOLS, read_yaml
from companion.runs.protocols import load_protocol
from companion.runs.results import published_results, published_runs
from ddr.paper.mixture import FourClusters

#: Parts of DDR's weight; learners of biased sampling; ways to preprocess the digits.
PARTS, LEARNERS, STEPS = read_yaml(BOOK / "lessons.yml").values()
#: DDR with other ratios, each beside the ratio itself.
OTHER_RATIOS = (("DDR-KLIEP", "KLIEP"), ("DDR-KMM", "KMM"))
_COMPARED = [NO_WEIGHTS, RIVAL, METHOD]


def mean_gain(results, experiment, protocol, rival=NO_WEIGHTS, method=METHOD):
    """Mean gain over the cases with the ends of its interval, in points."""
    return gains.mean_interval(gains.paired(results, experiment, protocol, method, rival)["gain"])


def _percent(share):
    return f"{100 * share:.1f} %"


# ------------------------------------------------------------------------------ theory


def true_weights(mixture, X, y):
    """Weights that know the densities: none, the plain ratio, the joint ratio."""
    return {
        "no weights": np.ones(len(X)),
        "plain ratio": mixture.marginal_ratio(X),
        "joint ratio": mixture.joint_ratio(X, y),
    }


def exact_risks(mixture, across=0.2, up=0.005):
    """Test risk of the best rule for training, as three kinds of weights estimate it.

    Sums over a grid take the place of infinitely many training points; it is fine in the direction
    in which the rule changes its mind.
    """
    grid = np.meshgrid(np.arange(-4, 10, across), np.arange(-4, 10, up))
    grid = np.stack(grid, axis=-1).reshape(-1, 2)
    rule, risks = mixture.bayes_predict(grid, "train"), {}
    for c, prior in zip((1, 2), mixture.train_priors, strict=True):
        lost = prior * mixture.class_density(grid, c, "train") * (rule != c) * across * up
        for name, weight in true_weights(mixture, grid, c).items():
            risks[name] = risks.get(name, 0.0) + float(np.sum(weight * lost))
    return risks


def why_weight_by_class():
    """Answer the question of the notebook on theory."""
    mixture, between = FourClusters(), np.array([[1.0, 3.0]])
    risks, prior = exact_risks(mixture), np.array(mixture.test_priors)
    one, two = (mixture.joint_ratio(between, c)[0] for c in (1, 2))
    twice = prior**2 / np.sum(prior**2)
    return [
        f"The best rule for training errs on {_percent(risks['joint ratio'])} of the test points. "
        f"Weighted by class, training points say just that; weighted by the plain ratio of the "
        f"inputs they say {_percent(risks['plain ratio'])}, unweighted "
        f"{_percent(risks['no weights'])}.",
        f"Half-way between two clusters, at (1, 3), a training point of class 1 should weigh "
        f"{one:.2f}, one of class 2 should weigh {two:.2f}. The plain ratio gives both "
        f"{mixture.marginal_ratio(between)[0]:.2f}.",
        f"The recipe needs one repair: as printed it counts the test prior twice, and class 1, "
        f"with {_percent(prior[0])} of the test points, would get {_percent(twice[0])} of the "
        "weight.",
    ]


# ------------------------------------------------------------------------------ synthetic data


def with_true_weights(n):
    """Test accuracy of naive Bayes with the true weights, and of the best rule."""
    mixture, streams = FourClusters(), np.random.SeedSequence(0).spawn(2)
    X, y = mixture.sample(n, "train", random_state=streams[0])
    X_test, y_test = mixture.sample(n, "test", random_state=streams[1])
    found = {
        name: GaussianNB().fit(X, y, sample_weight=weight).score(X_test, y_test)
        for name, weight in true_weights(mixture, X, y).items()
    }
    return found | {"best rule": float(np.mean(mixture.bayes_predict(X_test) == y_test))}


def synthetic_means(results):
    """Mean accuracies by training size under each protocol, and the printed ones."""
    printed = printed_means("synthetic")[_COMPARED]
    tables = {p: gains.case_means(results, "synthetic", p) for p in PROTOCOLS}
    return {p: t.loc[printed.index, _COMPARED] for p, t in tables.items()}, printed


def where_the_gain_comes_from():
    """Answer the question of the notebook on the synthetic data."""
    results = published_results()
    over = {p: mean_gain(results, "synthetic", p, RIVAL)[0] for p in PROTOCOLS}
    plain = {p: 100 * gains.case_means(results, "synthetic", p)[RIVAL].mean() for p in PROTOCOLS}
    printed, true = printed_gains("synthetic", METHOD, RIVAL).mean(), with_true_weights(100_000)
    return [
        f"From estimation. With the settings nearest to the paper DDR adds "
        f"{points(over['matched'])} points to the plain ratio (paper: {points(printed)}) and "
        f"{points(mean_gain(results, 'synthetic', 'matched')[0])} to no weights.",
        f"With the true weights the plain ratio reaches {_percent(true['plain ratio'])}, the joint "
        f"weight {_percent(true['joint ratio'])}, the best possible rule "
        f"{_percent(true['best rule'])}.",
        f"Tuned settings (a width by cross-validation, free coefficients) lift the plain ratio "
        f"from {plain['matched']:.1f} % to {plain['tuned']:.1f} %, and DDR then adds "
        f"{points(over['tuned'])} points.",
    ]


# ------------------------------------------------------------------------------ biased sampling


def part_gains(results, experiment):
    """Gain over no weights of the plain ratio and of each part of DDR's weight."""
    return {
        name: mean_gain(results, experiment, protocol_of(universe), method=method)
        for name, (universe, method) in PARTS.items()
    }


def all_part_gains(results):
    """:func:`part_gains` of every table."""
    names = ("synthetic data", "ten datasets", "digits")
    return {name: part_gains(results, e) for e, name in zip(EXPERIMENTS, names, strict=True)}


def direction_readings(results):
    """Say what is left of the gap, and of DDR's gain, when no test label chose the direction."""
    taken, again = (
        mean_gain(results, "biased", p, method="Oracle-imp") for p in ("same-draw", "matched")
    )
    runs = len(gains.accuracies(results, "biased", "matched"))
    lines = [
        f"All {runs} runs of all ten datasets: ideal weights gain "
        f"{with_interval(*taken)} points on the training set that won the choice, and "
        f"{with_interval(*again)} when it is drawn again along the same direction. So "
        f"{100 * (1 - again[0] / taken[0]):.0f} % of the gap was luck of the draw."
    ]
    directions = {"largest gap": "matched", "random direction": "universe:omega-random"}
    wide = {name: gains.accuracies(results, "biased", p) for name, p in directions.items()}
    for rival in (RIVAL, NO_WEIGHTS):  # over the runs that both directions have
        added = pd.DataFrame({name: 100 * (of[METHOD] - of[rival]) for name, of in wide.items()})
        means = added.dropna().groupby(level="case").mean().mean()
        said = ", ".join(f"{name} {points(mean)}" for name, mean in means.items())
        lines.append(f"DDR-uLSIF over {rival}, in points: {said}")
    return lines


def learner_gains(results):
    """Gain of DDR-uLSIF over no weights with each learner of biased sampling, worst learner first.

    The names tell the mean accuracy without weights.
    """
    names = {protocol_of(name): universe_name(name) for name in LEARNERS}
    names |= {"tuned": "the tuned protocol"}
    bare = {p: 100 * gains.case_means(results, "biased", p)[NO_WEIGHTS].mean() for p in names}
    return {
        f"{names[p]} ({bare[p]:.1f} %)": mean_gain(results, "biased", p)
        for p in sorted(names, key=bare.get)
    }


def what_ddr_corrects():
    """Answer the question of the notebook on biased sampling."""
    results = published_results()
    (_, by_class, prior, both), there = (
        [part[0] for part in part_gains(results, e).values()] for e in ("biased", "synthetic")
    )
    mostly = "the share of the classes" if prior > by_class else "the densities within the classes"
    random = mean_gain(results, "biased", "universe:omega-random")[0]
    bare = {p: 100 * gains.case_means(results, "biased", p)[NO_WEIGHTS].mean() for p in PROTOCOLS}
    return [
        f"On these ten datasets mostly {mostly}. Over no weights DDR's prior ratio alone gains "
        f"{points(prior)} points, its class-wise ratio alone {points(by_class)}, both together "
        f"{points(both)}. On the synthetic data: {points(there[2])}, {points(there[1])} and "
        f"{points(there[3])}.",
        f"The direction of the bias was chosen with test labels. Along a random one DDR gains "
        f"{points(random)} instead of {points(both)}.",
        f"A better learner leaves less: tuned, it reaches {bare['tuned']:.1f} % without weights "
        f"instead of {bare['matched']:.1f} %, and DDR changes that by "
        f"{points(mean_gain(results, 'biased', 'tuned')[0])} points.",
    ]


# ------------------------------------------------------------------------------ the digits


def means_by_step():
    """Unweighted accuracies of the search, one row a task, one column a way of preprocessing."""
    responses = protocol_search.published("cross", "responses")
    chosen = protocol_search.selected(responses.query("stage == 'second'"), [0.1, 1.0])
    found = chosen.pivot_table(index="case", columns="variant", values="accuracy", sort=False)
    cases = load_protocol("cross")["cases"][::2]
    found = 100 * found.reindex(index=cases, columns=list(STEPS.values()))
    return found.set_axis(list(STEPS), axis=1)


def print_miss(means):
    """Mean absolute deviation of the digits' unweighted means from the printed ones, in points."""
    printed = 100 * printed_means("cross")[NO_WEIGHTS]
    return float((means - printed.loc[means.index]).abs().mean())


def what_preprocessing_decides():
    """Answer the question of the notebook on the digits."""
    results = published_results()
    steps, matched = means_by_step(), 100 * gains.case_means(results, "cross", "matched")
    moved = (steps.iloc[:, -1] - steps.iloc[:, 0]).abs().mean()
    by_ddr = (matched[METHOD] - matched[NO_WEIGHTS]).abs().mean()
    misses = [f"{step} {print_miss(means):.1f}" for step, means in steps.items()]
    same = []
    for protocol in ("clipped", "matched"):
        wide = gains.accuracies(results, "cross", protocol)
        share = float(np.mean(wide[METHOD] == wide[NO_WEIGHTS]))
        costs = ", ".join(f"{C:g}" for C in load_protocol("cross", protocol)["learner"]["Cs"])
        same.append(f"{_percent(share)} of the runs of the protocol {protocol} (C in {costs})")
    return [
        f"Clipping and scaling alone move the unweighted accuracy of a task by {moved:.1f} points "
        f"on average; DDR's weights move it by {by_ddr:.1f}.",
        f"They decide whether the paper's table appears. Points by which our unweighted means "
        f"miss the printed ones: {'; '.join(misses)}.",
        f"Weights act only where digits violate the margin. DDR's accuracy is exactly the "
        f"unweighted one in {' and in '.join(same)}.",
    ]


def by_direction(compared):
    """Say for each direction between collections what DDR adds here and in the paper."""
    direction = compared["case"].str.rsplit(n=3).str[0]
    lines = []
    for name, rows in compared.groupby(direction, sort=False):
        means = 100 * rows.groupby("method")[["mean", "paper_mean"]].mean()
        added = means.loc[METHOD] - means.loc[RIVAL]
        off = means["mean"] - means["paper_mean"]
        columns = ", ".join(f"{method} {points(off[method])}" for method in _COMPARED)
        lines.append(
            f"{name}: DDR adds {points(added['mean'])} points to {RIVAL} here, "
            f"{points(added['paper_mean'])} in the paper. Ours minus the paper's mean: {columns}."
        )
    return lines


# ------------------------------------------------------------------------------ every table


def open_run_reading(settings, case, run, scores):
    """Say whether a run that a page computed in the open is the published one."""
    methods = [*_COMPARED, "Oracle-imp"][: len(scores)]
    rows = published_runs(settings)
    rows = rows[(rows["case"] == case) & (rows["seed"] == run)].set_index("method")["accuracy"]
    if not set(methods) <= set(rows.index):
        return "No published run has these parameters."
    off = np.abs(rows[methods].to_numpy() - scores).max()
    same = "the same" if off < 1e-9 else f"at most {off:.4f} away"
    listed = ", ".join(f"{method} {rows[method]:.4f}" for method in methods)
    return f"Published, run {run} of {case}: {listed}. The accuracies above are {same}."


def by_protocol(experiment):
    """What DDR adds to uLSIF and to no weights under each protocol, from the published runs."""
    results, rows = published_results(), []
    for name in PROTOCOLS:
        protocol = load_protocol(experiment, name)
        stored = len(gains.accuracies(results, experiment, name))
        runs = f"{stored} of {protocol['runs'] * len(protocol['cases'])}"
        row = {"Settings": name, "Runs stored": runs}
        means = gains.case_means(results, experiment, name)[_COMPARED].mean()
        row |= means.map("{:.4f}".format).to_dict()
        for rival, over in ((RIVAL, RIVAL), (NO_WEIGHTS, "no weights")):
            found = gains.over_cases(gains.paired(results, experiment, name, rival=rival))
            row[f"Gain over {over}"] = found["interval"]
            row[f"Better, worse than {over}"] = f"{found['better']}, {found['worse']}"
        rows.append(row)
    return pd.DataFrame(rows)


def how_often(runs, experiment, protocol, method, rival):
    """Say in how many cases a method is significantly better and worse, and by how much."""
    found = gains.over_cases(gains.paired(runs, experiment, protocol, method, rival))
    return (
        f"{method} is significantly better than {rival} in {found['better']} of {found['cases']} "
        f"cases, worse in {found['worse']}; mean {points(found['mean'])} points."
    )
