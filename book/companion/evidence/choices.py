"""What was chosen where the paper leaves it open: every setting, matched beside tuned."""

import pandas as pd
from IPython.display import Markdown

from companion.evidence.printed import table_name
from companion.evidence.tables import captioned
from companion.paths import BOOK, PROTOCOLS, read_yaml
from companion.runs.protocols import load_protocol


def settings(experiment):
    """Describe the protocols of one table."""
    contents = {p: load_protocol(experiment, p) for p in PROTOCOLS}
    intros = [f"- **{p}**: {' '.join(c['about'].split())}" for p, c in contents.items()]
    caption, name = f"Settings behind {table_name(experiment)}", f"protocols-{experiment}"
    table = captioned(settings_table(contents), caption, name, kind="worded")
    scope = f"{_scope(contents['matched'])} {{numref}}`{name}` has the rest."
    return Markdown("\n".join(intros) + f"\n\n{scope}\n\n{table}\n")


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
    """Set the protocols of one experiment beside each other, with what each setting decides."""
    meanings = read_yaml(BOOK / "setting_meanings.yml")
    flats = {name: flat(content) for name, content in contents.items()}
    keys = list(dict.fromkeys(key for settings in flats.values() for key in settings))
    groups = [key.rpartition(".")[0] for key in keys]
    rows = []
    # A setting that only the second protocol has belongs to its group, not to the end.
    for key in sorted(keys, key=lambda key: groups.index(key.rpartition(".")[0])):
        section, *_, last = key.split(".")
        (first, cell), *others = ((name, _shown(flats[name], key)) for name in flats)
        row = {"Setting": f"`{key}`", "Meaning": meanings[f"{section}.{last}"], first: cell}
        rows.append(row | {name: "same" if c == cell else c for name, c in others})
    return pd.DataFrame(rows)


def _shown(settings, key):
    if key not in settings:
        return "–"
    value = settings[key]
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(f"{item:g}" for item in value)
    return f"{value:g}" if isinstance(value, int | float) else f"`{value}`"
