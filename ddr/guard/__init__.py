"""Is it shifted, is adapting worth it, and which rows to label.

The names that users need stand here; the modules hold one question each.
"""

from ddr.guard.guarded import CHOICES, RULE, GuardedDDRClassifier, Rule, ShiftReport, shift_report

__all__ = ["CHOICES", "RULE", "GuardedDDRClassifier", "Rule", "ShiftReport", "shift_report"]
