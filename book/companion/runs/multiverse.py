"""The multiverse: the matched protocol under every choice that the paper leaves open."""

from functools import lru_cache, reduce

import numpy as np

from companion.paths import BOOK, EXPERIMENTS, read_yaml
from companion.runs.protocols import changed, load_protocol

AS_IT_IS = "as it is"
#: The methods that every universe compares, on all cases.
FEW = {
    "methods": ["Unweighted", "uLSIF", "DDR-uLSIF"],
    "extra_methods": {"cases": [], "methods": []},
}


@lru_cache(maxsize=1)  # a page asks for it hundreds of times
def read():
    """Read the list of universes."""
    return read_yaml(BOOK / "multiverse.yml")


def _base(experiment):
    return changed(load_protocol(experiment), **FEW)


def _changes(experiment):
    """What each universe changes in an experiment, where it does."""
    found = {name: u.get(experiment, u.get("all")) for name, u in read()["universes"].items()}
    return {name: change for name, change in found.items() if change is not None}


def universes(experiment):
    """Protocols of an experiment's universes: one choice of the published protocol changed."""
    base = changed(_base(experiment), runs=read()["runs"][experiment])
    return {
        name: changed(base, protocol=f"universe:{name}", **change)
        for name, change in _changes(experiment).items()
    }


def specifications(experiment):
    """Protocols with many choices changed at once, drawn at random; ``about`` lists the changes."""
    rule, changes = read()["joint"], _changes(experiment)
    rng = np.random.default_rng([rule["seed"], EXPERIMENTS.index(experiment)])
    factors = [f if AS_IT_IS in f else [AS_IT_IS, *f] for f in rule["factors"]]
    factors = [[name for name in f if name in {*changes, AS_IT_IS}] for f in factors]
    base, found = _base(experiment), {}
    base = changed(base, cases=base["cases"][:: rule["every"].get(experiment, 1)])
    for number in range(1, rule["specifications"] + 1):
        drawn = [factor[rng.integers(len(factor))] for factor in factors]
        chosen = [name for name in drawn if name != AS_IT_IS]
        protocol = reduce(lambda p, name: changed(p, **changes[name]), chosen, base)
        names = {"protocol": f"joint:{number:02d}", "about": chosen}
        found[names["protocol"]] = changed(protocol, runs=rule["runs"][experiment], **names)
    return found
