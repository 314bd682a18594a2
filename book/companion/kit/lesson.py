"""What a results notebook shows of stored runs, under the parameters of its page.

The story of a notebook uses the package `ddr` alone. Each cell that fetches runs, judges or draws
is one call of this module.
"""

from functools import cached_property
from textwrap import fill

from IPython.display import HTML, clear_output

from companion.evidence import multiverse, plots, scoreboard
from companion.evidence.lessons import answers
from companion.evidence.printed import ledger
from companion.evidence.verdicts import judge, summary
from companion.kit import display
from companion.kit.parameters import validate_here
from companion.paths import EXPERIMENTS
from companion.runs.multiverse import altered
from companion.runs.results import published_results, recomputed, stored_or_computed, with_cases


def say(text):
    """Print a sentence in lines that fit the page."""
    print(fill(text, 76))


class Lesson:
    """The stored runs of a notebook's page: its table, and what decides it."""

    def __init__(self, notebook, scope):
        changes = validate_here(notebook, scope)
        # A notebook is named after its experiment.
        self.experiment = next(name for name in EXPERIMENTS if name in notebook)
        self.scope = dict(scope)
        self.protocol = scope["protocol"]
        self.settings = altered(self.experiment, self.protocol, changes)
        self.cases = self._cases()
        if self.experiment == "synthetic":
            self.settings = with_cases(self.settings, [*self.cases, str(scope["n_shown"])])

    def _cases(self, pairs="pairs"):
        scope = self.scope
        if self.experiment == "cross":
            return [f"{d} {pair}" for d in scope["directions"] for pair in scope[pairs]]
        return [str(n) for n in scope["n_train"]] if "n_train" in scope else scope["cases"]

    @cached_property
    def shown(self):
        """The runs of the table: stored ones, or computed under the changed parameters."""
        compute = self.scope.get("compute_missing", True)
        found = stored_or_computed(self.settings, self.scope["n_runs"], self.cases, compute)
        clear_output()  # of progress, shown only when runs had to be computed
        return found

    @property
    def runs(self):
        """Their rows."""
        return self.shown.rows

    @property
    def found(self):
        """The cases that have runs."""
        return [case for case in self.cases if case in set(self.runs["case"])]

    def beside_published(self, case, run, scores):
        """Say whether the run in the open, by its accuracies, is the published one."""
        say(answers.open_run_reading(self.settings, case, run, list(scores)))

    def table(self):
        """Our table in the paper's layout, with what was computed again and what was judged."""
        runs, found = self.runs, self.found
        print(self.shown)
        tolerance = 5 / self.scope["n_test"] if self.experiment == "synthetic" else 0.02
        verified = self._cases("verify_pairs")
        say(recomputed(self.settings, self.scope["verify_runs"], verified, tolerance))
        shifted = bool(self.scope.get("strength", 1))
        no_shift = "No shift (strength 0): the print is not judged by it."
        name = self.settings["protocol"]
        say(summary(judge(runs, self.experiment, name)) if shifted else no_shift)
        table = scoreboard.wide(runs, self.experiment, name, judged=shifted)
        table = table[table.iloc[:, 0].astype(str).isin(found)]
        table = table.replace(" vs ", "\u00a0vs\u00a0", regex=True)  # no line break there
        number, count = ledger()["tables"][self.experiment]["number"], display.run_count(runs)
        caption = f"Our Table {number}: mean ± sd of {count}, {self.protocol} settings"
        return display.table(table, caption)

    def gains(self):
        """Gains of DDR in each case, beside the printed ones."""
        name = self.settings["protocol"]
        return display.picture(plots.forest(self.runs, self.experiment, name, self.found))

    def by_settings(self):
        """The published means under both sets of settings."""
        if self.experiment == "cross":
            compared = judge(self.runs, "cross", self.settings["protocol"]).values
            for line in answers.by_direction(compared[compared["case"].isin(self.found)]):
                say(line)
        table = answers.by_protocol(self.experiment).set_index("Settings").T
        return display.table(table.reset_index(names="Settings"), "Means over the published cases")

    def other_ratios(self):
        """What DDR adds to KLIEP and to KMM, in words and case by case."""
        known = self.settings.get("extra_methods", {}).get("cases", [])
        cases = [case for case in self.found if case in known or self.experiment == "synthetic"]
        if not cases or "KLIEP" not in set(self.runs["method"]):
            return HTML("These cases have no runs with other ratios.")
        runs, pairs = (self.runs, self.experiment, self.settings["protocol"]), answers.OTHER_RATIOS
        for pair in pairs:
            say(answers.how_often(*runs, *pair))
        return display.picture(plots.forest(*runs, cases, pairs))

    def choices(self):
        """The open choices that change the gain most."""
        return display.picture(multiverse.largest_forest(published_results(), self.experiment))

    def claims(self, *ids):
        """The paper's claims about these data, judged by the runs of this page."""
        if not self.scope.get("strength", 1):
            return HTML("No shift (strength 0): no claim is judged.")
        return display.claims_table(ids, self.runs, [self.settings["protocol"]])
