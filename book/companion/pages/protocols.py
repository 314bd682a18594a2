"""What the protocols page includes: every setting of each protocol, matched beside tuned."""

import pandas as pd

from companion.evidence.printed import table_name
from companion.evidence.tables import captioned
from companion.pages import write_fragments
from companion.pages.coverage import stored_runs
from companion.paths import EXPERIMENTS, PROTOCOLS
from companion.runs.protocols import load_protocol

#: What each setting decides; the key of a ratio's setting leaves out the ratio's name.
MEANINGS = {
    "problem.n_test": "test samples",
    "problem.choose": "how the direction of the bias is chosen; `max_gap` looks at test labels, "
    "as the paper does",
    "problem.n_omegas": "directions to choose from",
    "problem.redraw": "draw the training set anew along the chosen direction",
    "problem.strength": "steepness of the selection",
    "problem.test_fraction": "share of the rows set aside for the test",
    "problem.resize": "how 28 × 28 pixels become 16 × 16",
    "problem.scaling": "how pixels are brought to [−1, 1]",
    "problem.fraction": "share of each collection that a run draws",
    "problem.max_samples": "largest number of samples a side",
    "learner.name": "the classifier",
    "learner.sigma_factors": "kernel widths to choose from, in median distances",
    "learner.lams": "regularisation to choose from",
    "learner.Cs": "values of C to choose from",
    "learner.cv": "folds of importance-weighted cross-validation",
    "learner.loss": "loss in that cross-validation",
    "learner.n_centers": "kernel centres, drawn from the test rows",
    "ratios.sigma": "kernel width",
    "ratios.sigma_factors": "kernel widths to choose from, in median distances",
    "ratios.lam": "regularisation to choose from",
    "ratios.clip": "what is cut off at zero",
    "ratios.n_centers": "kernel centres, drawn from the test rows",
    "ratios.bound": "largest weight",
    "ratios.ridge": "added to the diagonal of the kernel matrix",
    "ddr.normalization": "divisor of the soft moments: sum of posteriors, or all test rows",
    "ddr.prior": "test prior from posteriors (`soft`) or from predicted labels (`hard`)",
    "ddr.matching": "test rows by posterior (`soft`) or by predicted label (`hard`)",
    "ddr.information_prior": "class prior in the mutual information",
    "ddr.components": "which of the two ratios make the weight",
    "ddr.scale": "weights with mean one over all rows, within a class, or as they are",
    "ddr.stopping": "when the iteration ends: `drop` is the first fall of mutual information",
    "ddr.min_iter": "earliest iteration that may be kept",
    "ddr.max_iter": "largest number of reweightings",
    "ddr.tol": "change of the weights that counts as settled",
    "ddr.reselect": "choose the ratio's parameters anew in each iteration",
}


def write(folder, evidence):
    """Write the fragments of the protocols page."""
    return write_fragments(
        folder, {f"protocols_{e}.md": section_text(evidence.results, e) for e in EXPERIMENTS}
    )


def section_text(results, experiment):
    """Describe the protocols of one table."""
    contents = {p: load_protocol(experiment, p) for p in PROTOCOLS}
    intros = [_intro(results, content) for content in contents.values()]
    table = captioned(
        settings_table(contents),
        f"Settings behind {table_name(experiment)}",
        f"protocols-{experiment}",
        kind="worded",
    )
    scope = f"{_scope(contents['matched'])} {{numref}}`protocols-{experiment}` has the rest."
    return "\n".join(intros) + f"\n\n{scope}\n\n{table}\n"


def _intro(results, content):
    stored, wanted = stored_runs(results, content["experiment"], content["protocol"])
    about = " ".join(content["about"].split())
    return f"- **{content['protocol']}** ({stored} of {wanted} runs stored): {about}"


def _scope(content):
    extra = content.get("extra_methods", {"cases": []})
    text = (
        f"Both: {content['runs']} runs of each of {len(content['cases'])} cases, random streams "
        f"from the root {content['seed']}; methods {', '.join(content['methods'])}"
    )
    if extra["cases"]:
        text += f", and for {', '.join(extra['cases'])} also {', '.join(extra['methods'])}"
    return text + "."


def flat(content):
    """Flatten the settings of a protocol."""
    found: dict[str, object] = {}
    for section in ("problem", "learner", "ratios", "ddr"):
        for key, value in content.get(section, {}).items():
            if isinstance(value, dict):
                found |= {f"{section}.{key}.{inner}": v for inner, v in value.items()}
            else:
                found[f"{section}.{key}"] = value
    return found


def settings_table(contents):
    """Set the protocols of one experiment beside each other."""
    flats = {name: flat(content) for name, content in contents.items()}
    first = next(iter(flats))
    keys = list(dict.fromkeys(key for settings in flats.values() for key in settings))
    rows = []
    # A setting that only the second protocol has belongs to its group, not to the end.
    groups = list(dict.fromkeys(_group(key) for key in keys))
    for key in sorted(keys, key=lambda k: (groups.index(_group(k)), keys.index(k))):
        cells = {name: _shown(settings, key) for name, settings in flats.items()}
        rest = {n: "same" if c == cells[first] else c for n, c in cells.items() if n != first}
        meaning = MEANINGS[_general(key)]
        rows.append({"Setting": f"`{key}`", "Meaning": meaning, first: cells[first]} | rest)
    return pd.DataFrame(rows)


def _general(key):
    section, *_, last = key.split(".")
    return f"{section}.{last}"


def _group(key):
    return key.rpartition(".")[0]


def _shown(settings, key):
    if key not in settings:
        return "–"
    value = settings[key]
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(f"{item:g}" for item in value)
    return f"{value:g}" if isinstance(value, int | float) else f"`{value}`"
