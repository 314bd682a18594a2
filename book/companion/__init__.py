"""The program that makes the book: runs, evidence, figures, notebooks and pages."""
