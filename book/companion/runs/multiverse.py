"""The multiverse: the matched protocol under every choice that the paper leaves open."""

from pathlib import Path

import yaml

from companion.paths import BOOK, EXPERIMENTS
from companion.runs.protocols import changed, load_protocol

METHODS = ["Unweighted", "uLSIF", "DDR-uLSIF"]


def universes(experiment, path=None):
    """Protocols of an experiment's universes."""
    content = read(path)
    base = changed(
        load_protocol(experiment),
        methods=METHODS,
        extra_methods={"cases": [], "methods": []},
        runs=content["runs"][experiment],
    )
    found = {}
    for name, universe in content["universes"].items():
        change = universe.get(experiment, universe.get("all"))
        if change is not None:
            found[name] = changed(base, protocol=f"universe:{name}", **change)
    return found


def read(path=None):
    """Read and check the list of universes."""
    content = yaml.safe_load(Path(path or BOOK / "multiverse.yml").read_text(encoding="utf-8"))
    for name, universe in content["universes"].items():
        unknown = set(universe) - {"name", "question", "all", *EXPERIMENTS}
        if unknown or "question" not in universe:
            raise ValueError(
                f"universe {name!r} must have a question and changes for all or for some of "
                f"{', '.join(EXPERIMENTS)}, got the keys {', '.join(sorted(universe))}"
            )
    return content
