"""What can be seen of a shift: the numbers, the rule that reads them, and how both are shown."""

from dataclasses import dataclass, field
from html import escape
from textwrap import wrap

#: What a guard chooses among, and what that is called in a sentence.
CHOICES = {
    "none": "no weights",
    "calibrated": "calibrated posteriors, no weights",
    "em": "a corrected class prior (EM on calibrated posteriors)",
    "prior_ratio": "DDR's prior ratio alone",
    "ratio": "the plain density ratio",
    "ddr": "DDR",
}


@dataclass(frozen=True)
class Rule:
    """Limits within which a class prior is corrected without labels; ``RULE`` has the fitted ones.

    A large shift (an AUC of at least ``large``) of which correcting the prior leaves at most half
    is hardly explained by chance: ``condition`` may be four times as large there, and ``residual``
    does not count.
    """

    prior_p: float
    condition: float
    residual: float
    large: float

    def choose(self, seen):
        """Choice and its reason, from a report or anything else with the same attributes."""
        left = abs(seen.residual_auc - 0.5)
        large = seen.auc >= self.large and left <= (seen.auc - 0.5) / 2
        limit = self.condition * (4 if large else 1)
        if seen.prior_p >= self.prior_p:
            return "none", f"the class prior may well be unchanged (p = {seen.prior_p:.2g})"
        if seen.condition > limit:
            hardly = f"condition number {seen.condition:.1f}, limit {limit:g}"
            return "none", f"this learner hardly tells the target's class prior ({hardly})"
        if left > self.residual and not large:
            rest = f"once the prior is corrected, an AUC of {seen.residual_auc:.2f} is left"
            return "none", f"more than the class prior changed: {rest}"
        differs = f"the class prior differs (p = {seen.prior_p:.1g})"
        once = f"AUC {seen.auc:.2f}, {seen.residual_auc:.2f} once corrected"
        return "em", f"{differs}, and explains the shift ({once})"


#: Fitted to natural and made shifts; a test fits it again from the stored benchmark.
RULE = Rule(prior_p=0.05, condition=2.0, residual=0.1, large=0.8)


@dataclass(frozen=True, eq=False)
class ShiftReport:
    """What two samples, the candidates and the labels told so far show; prints itself.

    ``auc`` is how well a cross-validated classifier tells source from target, ``auc_p`` the p-value
    of no shift; ``residual_auc`` the same once the source has the target's class prior.
    ``prior_ratio`` is that of each class by EM, ``prior_p`` the p-value of an unchanged prior,
    ``condition`` how well the learner tells the prior (1 is perfect). ``changes`` is the share of
    the target on which each candidate contradicts no weights, ``open`` that on which any does: no
    more can be gained.
    ``questions`` holds the rows to label next, with what each candidate says. After labels were
    told, ``gains`` holds a :class:`~ddr.guard.labels.Gain` a candidate.
    """

    auc: float
    auc_p: float
    residual_auc: float
    prior_ratio: dict
    prior_p: float
    condition: float
    changes: dict
    open: float
    scores: tuple = field(repr=False)  # held out, of the rows of source and target
    choice: str = ""
    reason: str = ""
    questions: tuple = field(default=(), repr=False)
    labels: int = 0
    gains: dict = field(default_factory=dict)

    @property
    def advice(self):
        """What to use, and why, in a sentence."""
        return f"Use {CHOICES.get(self.choice, self.choice)}: {self.reason}."

    def rows(self):
        """Each line of the report: what, how much, and what it says."""
        ratios = ", ".join(f"{c}: {ratio:.2f}" for c, ratio in self.prior_ratio.items())
        changes = ", ".join(f"{name} {share:.0%}" for name, share in self.changes.items())
        lines = [
            ("Source against target, AUC", f"{self.auc:.2f}", f"p = {self.auc_p:.1g} of no shift"),
            ("The same, prior corrected", f"{self.residual_auc:.2f}", "0.5: nothing else shifted"),
            ("Prior ratio", ratios, f"p = {self.prior_p:.1g} of no change"),
            ("Condition of the prior", f"{self.condition:.1f}", "1: the learner tells it well"),
            ("Candidates disagree", f"{self.open:.0%}", f"no more can be gained ({changes})"),
        ]
        for name, gain in self.gains.items():
            between = f"{gain.low:+.1f} to {gain.high:+.1f} points, {gain.labels} labels"
            lines.append((f"Gain of {name}", f"{gain.estimate:+.1f}", between))
        return lines

    def table(self, n=20):
        """The rows to label next, and what each candidate says of them."""
        lines = ("row", "none", *self.changes), *self.questions[:n]
        return "\n".join("  ".join(f"{cell!s:>11}" for cell in line) for line in lines)

    def __str__(self):
        lines = ["Shift report"]
        lines += [f"  {what:<30}{value:>8}  {note}" for what, value, note in self.rows()]
        lines += wrap(f"Recommendation: {self.advice}", 80)
        if self.questions:
            lines += ["Label these rows first (report.table() shows 20):", self.table(5)]
        return "\n".join(lines)

    def _repr_html_(self):
        lines = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in self.rows())
        table = "".join(f"<tr>{cells}</tr>" for cells in lines)
        return f"<table><caption>Shift report</caption>{table}</table><p>{escape(self.advice)}</p>"

    def plot(self):
        """Figure of each candidate's gain by the labels, or of how far the samples are apart."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6, 3), layout="constrained")
        axes = figure.subplots()
        for name, gain in self.gains.items():
            axes.plot([gain.low, gain.high], [name, name], color="C0")
            axes.plot(gain.estimate, name, "o", color="C0")
        if self.gains:
            axes.axvline(0, color="0.5", lw=1)
            axes.set(title=f"Gain after {self.labels} labels", xlabel="points of accuracy")
            return figure
        for name, scores in zip(("source", "target"), self.scores, strict=True):
            axes.hist(scores, 20, density=True, alpha=0.5, label=name)
        axes.set(title=f"Told apart: AUC {self.auc:.2f}", xlabel="held-out score", yticks=[])
        axes.legend()
        return figure
