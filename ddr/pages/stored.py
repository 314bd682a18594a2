"""How much of each protocol is stored, and the sentence that says what is still to be computed."""

from ddr.paper import ledger
from ddr.protocols import load_protocol

__all__ = [
    "PROTOCOLS",
    "command",
    "missing_sentence",
    "stored_runs",
    "table_name",
    "table_title",
]

#: The two protocols that are set beside the paper, the nearest to it first.
PROTOCOLS = ("matched", "tuned")
_IN_WORDS = {
    "synthetic": "synthetic data",
    "biased": "biased sampling",
    "cross": "cross-dataset",
}


def stored_runs(results, experiment, protocol):
    """Count the runs of a protocol that are stored, and those that it asks for.

    Parameters
    ----------
    results : pandas.DataFrame
        Tidy runs.
    experiment : {"synthetic", "biased", "cross"}
    protocol : {"matched", "tuned"}

    Returns
    -------
    tuple of int
        ``(stored, wanted)``; a run is one draw of one case, whatever the number of methods.

    Examples
    --------
    >>> import pandas as pd
    >>> stored_runs(pd.DataFrame(columns=["experiment", "protocol"]), "synthetic", "matched")
    (0, 180)
    """
    content = load_protocol(experiment, protocol)
    wanted = len(content["cases"]) * content["runs"]
    rows = results[(results["experiment"] == experiment) & (results["protocol"] == protocol)]
    return (0 if rows.empty else len(rows[["case", "seed"]].drop_duplicates())), wanted


def command(experiment, protocol):
    """Return the command that computes and stores what is missing.

    Parameters
    ----------
    experiment : {"synthetic", "biased", "cross"}
    protocol : {"matched", "tuned"}

    Returns
    -------
    str

    Examples
    --------
    >>> command("cross", "tuned")
    'python -m ddr reproduce cross --protocol tuned --into book/results'
    """
    return f"python -m ddr reproduce {experiment} --protocol {protocol} --into book/results"


def missing_sentence(results, experiment, protocol):
    """Say what of a protocol is not computed yet.

    Parameters
    ----------
    results : pandas.DataFrame
        Tidy runs.
    experiment : {"synthetic", "biased", "cross"}
    protocol : {"matched", "tuned"}

    Returns
    -------
    str
        Empty when every run is stored.

    Examples
    --------
    >>> import pandas as pd
    >>> none = pd.DataFrame(columns=["experiment", "protocol"])
    >>> missing_sentence(none, "synthetic", "matched").split(":")[0]
    'Not computed yet'
    """
    stored, wanted = stored_runs(results, experiment, protocol)
    if stored >= wanted:
        return ""
    text = f"run `{command(experiment, protocol)}`."
    if stored == 0:
        return f"Not computed yet: {text}"
    return f"Only {stored} of {wanted} runs are stored; for the rest, {text}"


def table_name(experiment):
    """Name a table of the paper by its number and its experiment, within a sentence.

    Parameters
    ----------
    experiment : {"synthetic", "biased", "cross"}

    Returns
    -------
    str
        Says whose table it is, because the book numbers tables of its own.

    Examples
    --------
    >>> table_name("biased")
    "the paper's Table 3 (biased sampling)"
    """
    return f"the paper's {_numbered(experiment)}"


def table_title(experiment):
    """Name a table of the paper where a heading, a panel or a line begins with it.

    Parameters
    ----------
    experiment : {"synthetic", "biased", "cross"}

    Returns
    -------
    str

    Examples
    --------
    >>> table_title("cross")
    "Paper's Table 4 (cross-dataset)"
    """
    return f"Paper's {_numbered(experiment)}"


def _numbered(experiment):
    return f"Table {ledger()['tables'][experiment]['number']} ({_IN_WORDS[experiment]})"
