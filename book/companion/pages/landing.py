"""What the first page includes: the answer in one minute, each number of it computed."""

from textwrap import fill

from companion.evidence import shifts
from companion.evidence.gains import METHOD, NO_WEIGHTS, RIVAL, over_cases
from companion.evidence.printed import printed_gains, table_name, table_title
from companion.evidence.tables import points
from companion.evidence.universes import BASELINE, deciding_choices, universe_gains, universe_name
from companion.figures import landing as pictures
from companion.paths import EXPERIMENTS, PROTOCOLS
from companion.runs.experiments import draw
from companion.runs.protocols import load_protocol
from ddr.paper.comparison import fit_three

#: The run of the picture: the first of the published ones with so many training points.
CASE, RUN = "300", 0
_RIVALS = {RIVAL: "over the plain ratio", NO_WEIGHTS: "over no weights"}
_WORD_CLASS = {"reproduces": "good", "reproduces in part": "fair"}


def files(evidence):
    """Give the fragments and the pictures of the first page."""
    gains, choices = gain_rows(evidence), deciding_choices(evidence.results)
    names = [fill(universe_name(universe), 26) for universe in choices["universe"]]
    return hero_figures() | {
        "landing_status.md": status_line(evidence),
        "landing_answers.md": answers_text(evidence, choices),
        "landing_gains.md": gains_text(gains),
        "landing_choices.md": choices_text(choices),
        "landing_gains.png": pictures.mean_gains(gains, _RIVALS),
        "landing_choices.png": pictures.choice_bars(names, choices),
    }


def status_line(evidence):
    """One word for each table, with the settings that come nearest to the print."""
    words = []
    for experiment in EXPERIMENTS:
        word = evidence.verdicts[experiment, "matched"].word
        mark = _WORD_CLASS.get(word, "poor")
        name = table_title(experiment).removeprefix("Paper's Table ")
        words.append(f"{name} [{word}]{{.ddr-word .ddr-{mark}}}")
    return ":::{div} ddr-status\nThe paper's tables:\n\n" + "\n\n".join(words) + "\n:::"


def status_lines(evidence):
    """Say for each table whether it reproduces and what DDR gains, one line each."""
    lines = []
    for experiment in EXPERIMENTS:
        words = [_status(evidence, experiment, protocol) for protocol in PROTOCOLS]
        lines.append(f"- **{table_title(experiment)}:** {'; '.join(words)}.")
    return "\n".join(lines)


def _status(evidence, experiment, protocol):
    word = evidence.verdicts[experiment, protocol].word
    gains = [over_cases(evidence.gains[experiment, protocol, r]) for r in (RIVAL, NO_WEIGHTS)]
    return (
        f"*{word}* with {protocol} settings, where {METHOD} gains {points(gains[0]['mean'])} "
        f"points over {RIVAL} and {points(gains[1]['mean'])} over no weights"
    )


def answers(evidence, choices):
    """The three questions of a reader in a hurry, each with its answer of at most 50 words."""
    return {
        "Did it reproduce?": _reproduced(evidence),
        "Why not everywhere?": _reasons(evidence, choices),
        "Should I use it?": shifts.advice(),
    }


def answers_text(evidence, choices):
    """Lay the answers out as boxes."""
    links = ("scoreboard", "multiverse", "use/should_i_use_it")
    boxes = [
        f":::{{grid-item-card}} {question}\n:link: {link}\n:link-type: doc\n\n{answer}\n:::"
        for (question, answer), link in zip(answers(evidence, choices).items(), links, strict=True)
    ]
    return "::::{grid} 1 1 3 3\n:gutter: 2\n\n" + "\n\n".join(boxes) + "\n::::"


def _reproduced(evidence):
    judged = [evidence.verdicts[experiment, "matched"] for experiment in EXPERIMENTS]
    value = [mark for verdict in judged for mark in verdict.values["value"]]
    order = [mark for verdict in judged for mark in verdict.orders["order"]]
    expected = sum(verdict.expected["agrees"] for verdict in judged)
    return (
        f"Of {len(value)} printed means, {value.count('agrees')} agree and {value.count('near')} "
        f"are near; in an exact replication {expected:.0f} would agree. Of {len(order)} "
        f"rankings of two methods that the print tells apart, {order.count('kept')} are kept and "
        f"{order.count('reversed')} reversed."
    )


def _reasons(evidence, choices):
    first = choices.iloc[0]
    gain = universe_gains(evidence.results, first["experiment"]).at[BASELINE, "gain"]
    return (
        "The paper leaves choices open, and they decide. One of them "
        f"(*{universe_name(first['universe'])}*) changes the gain over the plain ratio in "
        f"{table_name(first['experiment'])} by {points(first['change'])} points; the whole gain "
        f"is {points(gain)}. Nobody knows what the authors chose."
    )


def hero_figures():
    """Training beside test data of one published run, with three learned boundaries."""
    protocol = load_protocol("synthetic")
    problem, learner, ratios = draw(protocol, CASE, RUN)
    X, y, X_test, y_test = problem.X_train, problem.y_train, problem.X_test, problem.y_test
    found = fit_three(X, y, X_test, learner, ratios["uLSIF"], **protocol["ddr"])
    models = {name: fit.model for name, fit in found.items()}
    scores = {name: model.score(X_test, y_test) for name, model in models.items()}
    train = pictures.shifted_sample(X, y, models, "training data")
    shown = slice(0, 3 * len(y))  # enough points to see where they lie
    titled = "test data, whose labels no method sees"
    test = pictures.shifted_sample(X_test[shown], y_test[shown], models, titled, scores)
    return {"landing_train.png": train, "landing_test.png": test}


def gain_rows(evidence):
    """Mean gains of each table over each rival: in print, nearest to it, tuned."""
    rows = []
    for experiment in EXPERIMENTS:
        name = table_title(experiment).removeprefix("Paper's ").replace(" (", "\n(")
        for rival in _RIVALS:
            key = {"table": name, "rival": rival}
            printed = printed_gains(experiment, METHOD, rival).mean()
            rows.append(key | {"kind": "print", "mean": printed, "low": float("nan")})
            for protocol in PROTOCOLS:
                found = over_cases(evidence.gains[experiment, protocol, rival])
                rows.append(key | {"kind": protocol, "mean": found["mean"], "low": found["low"]})
    return rows


def gains_text(rows):
    """The figure of the mean gains, said for those who do not see it."""
    parts = [
        f"{row['table']} {_RIVALS[row['rival']]}, {pictures.IN_WORDS[row['kind']]}: "
        f"{points(row['mean'])}"
        for row in rows
    ]
    alt = "; ".join(parts).replace("\n", " ")
    return f"![Mean gains in points. {alt}.](_generated/landing_gains.png)"


def choices_text(choices):
    """The figure of the choices that matter most."""
    alt = "; ".join(
        f"{universe_name(row.universe)}: {points(row.change)}" for row in choices.itertuples()
    )
    where = " and ".join(dict.fromkeys(table_name(e) for e in choices["experiment"]))
    return (
        f"![Changes of the gain in points. {alt}.](_generated/landing_choices.png)\n\n"
        "{.ddr-caption}\nThe open choices that move the gain over the plain ratio most "
        f"(in {where}), each changed alone."
    )
