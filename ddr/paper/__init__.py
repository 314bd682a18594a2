"""The paper's problems and learners: data, shifts, and the classifiers of its tables.

Examples
--------
>>> from ddr import paper
>>> paper.load("Ionosphere")
Dataset('Ionosphere', 351 x 34, 2 classes)
"""

# ruff: noqa: F401 - what stands here is what users import
from ddr.paper.choices import algorithm_1
from ddr.paper.comparison import fit_three
from ddr.paper.datasets import load, names, scale_to_unit_box
from ddr.paper.iwlspc import IWLSPCCV
from ddr.paper.mixture import FixedCounts, FourClusters
from ddr.paper.shifts import (
    ShiftedProblem,
    accuracy_gap,
    biased_sampling,
    cross_dataset,
    mixture_shift,
)
from ddr.paper.svm import LinearSVMWithPosteriorsCV
