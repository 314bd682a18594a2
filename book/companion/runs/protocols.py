"""Protocols: every setting of an experiment, as a YAML file that a person can read.

A protocol is data. Reading one checks each key, so that a typing mistake is refused before
anything runs.
"""

from copy import deepcopy
from functools import cache

from companion.paths import BOOK, EXPERIMENTS, read_yaml
from ddr.kliep import KLIEP
from ddr.kmm import KMM
from ddr.ulsif import ULSIF

RATIOS = {"uLSIF": ULSIF, "KLIEP": KLIEP, "KMM": KMM}
_KEYS = "about experiment protocol seed runs cases methods extra_methods problem learner ratios ddr"
_SECTIONS = {
    "extra_methods": "cases methods",
    "problem": "n_test counts choose n_omegas redraw strength test_fraction "
    "resize antialias clip scaling fraction max_samples",
    "learner": "name unbiased priors sigma_factors lams sums Cs cv folds loss n_centers",
    "ddr": "normalization prior matching information_prior components scale "
    "stopping min_iter max_iter tol reselect",
}


def protocol_names():
    """Names of the protocols of each experiment."""
    pairs = [file.stem.split("-", 1) for file in sorted((BOOK / "protocols").glob("*.yml"))]
    return {e: [p for experiment, p in pairs if experiment == e] for e in EXPERIMENTS}


def load_protocol(experiment, protocol="matched"):
    """Read and check one protocol."""
    if experiment not in EXPERIMENTS:
        raise ValueError(f"experiment must be one of {', '.join(EXPERIMENTS)}, got {experiment!r}")
    known = protocol_names()[experiment]
    if protocol not in known:
        raise ValueError(f"protocol must be one of {', '.join(known)}, got {protocol!r}")
    return check_protocol(read_yaml(BOOK / "protocols" / f"{experiment}-{protocol}.yml"))


def check_protocol(content):
    """Return a protocol unchanged, or say in one sentence which key is wrong."""
    _check_keys("a protocol", content, _KEYS.split())
    for section, allowed in _SECTIONS.items():
        _check_keys(section, content.get(section, {}), allowed.split())
    for key in ("experiment", "protocol", "seed", "cases", "methods", "learner", "ratios"):
        if key not in content:
            raise ValueError(f"a protocol must have the key {key!r}")
    _check_keys("ratios", content["ratios"], RATIOS)
    for name, options in content["ratios"].items():
        _check_keys(f"{name} of ratios", options, _settings_of(name))
    return content


@cache
def _settings_of(ratio):
    # A run seeds its ratios itself.
    known = {"sigma_factors", *RATIOS[ratio]().get_params()} - {"random_state"}
    return known | ({"sums", "pooled"} if ratio == "uLSIF" else set())


def _check_keys(section, content, known):
    if not isinstance(content, dict):
        raise ValueError(f"{section} must hold settings by their names, got {content!r}")
    for key in content:
        if key not in known:
            raise ValueError(
                f"{section} has an unknown key {key!r}; known are {', '.join(sorted(known))}"
            )


def changed(content, **changes):
    """Copy a protocol with some settings changed."""
    return check_protocol(merged(deepcopy(content), changes))


def merged(old, new):
    """Merge settings, also those within settings; None removes one."""
    both = dict(old)
    for key, value in new.items():
        if isinstance(value, dict) and isinstance(both.get(key), dict):
            value = merged(both[key], value)
        both[key] = value
    return {key: value for key, value in both.items() if value is not None}
