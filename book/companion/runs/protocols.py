"""Protocols: every setting of an experiment, as a YAML file that a person can read.

A protocol is data. Its sections are arguments of what they set up, which refuses a typing mistake.
"""

from copy import deepcopy

from companion.paths import BOOK, EXPERIMENTS, read_yaml
from ddr.kliep import KLIEP
from ddr.kmm import KMM
from ddr.ulsif import ULSIF

RATIOS = {"uLSIF": ULSIF, "KLIEP": KLIEP, "KMM": KMM}
_NEEDED = {"experiment", "protocol", "seed", "cases", "methods", "learner", "ratios"}
_FURTHER = {"about", "runs", "extra_methods", "problem", "ddr"}


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
    wrong = (_NEEDED - content.keys()) | (content.keys() - _NEEDED - _FURTHER)
    if wrong:
        raise ValueError(
            f"a protocol must have the keys {', '.join(sorted(_NEEDED))} and may have "
            f"{', '.join(sorted(_FURTHER))}; missing or unknown: {', '.join(sorted(wrong))}"
        )
    return content


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
