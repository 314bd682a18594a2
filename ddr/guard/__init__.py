"""Is it shifted, is adapting worth it, and which rows to label.

The names that users need stand here; the modules hold one question each.
"""

from ddr.guard.guarded import GuardedDDRClassifier, shift_report
from ddr.guard.report import CHOICES, RULE, Rule, ShiftReport

__all__ = ["CHOICES", "RULE", "GuardedDDRClassifier", "Rule", "ShiftReport", "shift_report"]
