"""Sphinx extension: let two processes read the pages, whose cells take most of a build's time."""

from sphinx_proof.domain import ProofDomain

# Neither keeps anything of a page, but they do not say so.
_SAFE = {"sphinx_jupyterbook_latex", "sphinx_multitoc_numbering"}


class Proofs(ProofDomain):
    """The proofs, which are kept and merged beside their domain: nothing is left to merge in it."""

    def merge_domaindata(self, docnames, otherdata):
        """Take nothing from the other process."""


def read_by_two(app, env, names):
    """Switch it on before the first page is read: Jupyter Book has no option for it."""
    app.parallel = 2
    for name in _SAFE & set(app.extensions):
        app.extensions[name].parallel_read_safe = True


def setup(app):
    """Register with Sphinx, once the domain of proofs is there."""
    app.setup_extension("sphinx_proof")
    app.add_domain(Proofs, override=True)
    app.connect("env-before-read-docs", read_by_two)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
