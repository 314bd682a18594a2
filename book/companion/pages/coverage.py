"""How much of each protocol is stored, and the sentence that says what is still to be computed."""

from companion.runs.protocols import load_protocol


def stored_runs(results, experiment, protocol):
    """Count the runs of a protocol that are stored, and those that it asks for."""
    content = load_protocol(experiment, protocol)
    wanted = len(content["cases"]) * content["runs"]
    rows = results[(results["experiment"] == experiment) & (results["protocol"] == protocol)]
    return (0 if rows.empty else len(rows[["case", "seed"]].drop_duplicates())), wanted


def command(experiment, protocol):
    """Return the command that computes and stores what is missing."""
    return f"ddr-book reproduce {experiment} --protocol {protocol} && ddr-book publish"


def missing_sentence(results, experiment, protocol):
    """Say what of a protocol is not computed yet."""
    stored, wanted = stored_runs(results, experiment, protocol)
    if stored >= wanted:
        return ""
    text = f"run `{command(experiment, protocol)}`."
    if stored == 0:
        return f"Not computed yet: {text}"
    return f"Only {stored} of {wanted} runs are stored; for the rest, {text}"
