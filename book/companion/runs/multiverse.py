"""The multiverse: the matched protocol under every choice that the paper leaves open."""

from functools import lru_cache, reduce

import numpy as np

from companion.paths import BOOK, EXPERIMENTS, read_yaml
from companion.runs.protocols import changed, load_protocol, protocol_names

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


#: Where a notebook's parameter stands in a protocol; kernel widths have two forms there.
_PLACES = {"seed": ["seed"], "Cs": ["learner", "Cs"]}
_PLACES |= {
    name: ["problem", name] for name in ["n_test", "strength", "n_omegas", "fraction", "resize"]
}
_PLACES |= {name: ["ddr", name] for name in ("components", "stopping", "max_iter")}
_PLACES |= {"clip": ["ratios", "uLSIF", "clip"], "lams": ["ratios", "uLSIF", "lam"]}


def altered(experiment, name, changes):
    """A protocol by its name, or that of a universe, with a notebook's changed parameters."""
    if name in protocol_names()[experiment]:
        protocol = load_protocol(experiment, name)
    elif name in universes(experiment):
        protocol = universes(experiment)[name]
    else:
        known = ", ".join([*protocol_names()[experiment], *universes(experiment)])
        raise ValueError(f"protocol must be one of {known}; got {name!r}")
    for parameter, value in changes.items():
        if parameter in ("width", "widths") and experiment != "synthetic":
            new = {"ratios": {"uLSIF": {"sigma_factors": np.atleast_1d(value).tolist()}}}
        elif parameter == "width":
            new = {"ratios": {"uLSIF": {"sigma": value, "sigma_factors": None}}}
        elif parameter in _PLACES:
            new = reduce(lambda inner, key: {key: inner}, reversed(_PLACES[parameter]), value)
        else:
            continue  # it changes how much is shown, not what is computed
        protocol = changed(protocol, **new)
    return protocol


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
