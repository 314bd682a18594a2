"""Turn an executed notebook into the page of a rerun: its own title and labels.

The code stays what it was. The prose changes, because a book cannot hold the same label twice; what
the kernel wrote to stderr moves into a folded note, because in a published notebook it fails the
build.
"""

import re
from itertools import count
from pathlib import Path

import nbformat

_LABELS = (
    re.compile(r"^\(([\w:.-]+)\)=", re.MULTILINE),  # (label)= before a heading
    re.compile(r"^:(?:label|name):\s*([\w:.-]+)", re.MULTILINE),  # directive options
    re.compile(r"\$\$\s*\(([\w:.-]+)\)"),  # $$ .. $$ (label)
    re.compile(r"\{#([\w:.-]+)[ }]"),  # {#label} before a block or after a span
    re.compile(r"\\label\{([\w:.-]+)\}"),
)
# A proof without a label gets one from sphinx-proof that is unique in its page only.
_PROOF = r"^([`:~]{3,}\{prf:(?!proof\})(\w+)\}.*\n)"
_UNLABELLED = re.compile(_PROOF + r"(?!(?:[ \t]*:[\w-]+:.*\n)*[ \t]*:label:)", re.MULTILINE)
_EQUATION = re.compile(r"\$\$\n((?:(?!\$\$).)*?)\n\$\$ \(([\w:.-]+)\)", re.DOTALL)
_FACTS = {"name": str, "notebook": str, "parameters": dict, "seconds": (int, float)}


def as_rerun(notebook, source_name, run_name, values, seconds):
    """Give an executed copy its own title and labels."""
    number_equations(notebook)
    labels, proofs = find_labels(notebook), count(1)

    def label(proof):
        head, kind = proof.groups()
        return f"{head}:label: {kind}-{next(proofs)}--{source_name}--{run_name}\n"

    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = rename_labels(cell.source, labels, run_name)
            cell.source = _UNLABELLED.sub(label, cell.source)
        figure = _figure(cell)
        for key in figure.keys() & {"name", "caption"}:
            figure[key] = rename_labels(figure[key], labels, run_name)
    stderr = take_stderr(notebook)
    _retitle(notebook, source_name, run_name, values, stderr)
    facts = {"name": run_name, "notebook": source_name, "parameters": values}
    facts |= {"seconds": round(seconds, 1)} | ({"stderr": stderr} if stderr else {})
    notebook.metadata["ddr"] = {"run": facts}
    return notebook


def _figure(cell):
    return cell.metadata.get("mystnb", {}).get("figure", {})


def find_labels(notebook):
    """Collect the cross-reference labels that a notebook defines."""
    labels = {_figure(cell).get("name") for cell in notebook.cells} - {None}
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    return labels.union(*(pattern.findall(prose) for pattern in _LABELS))


def number_equations(notebook):
    """Write the numbers of the source's page out: the book would go on counting in the copy."""
    prose = [cell for cell in notebook.cells if cell.cell_type == "markdown"]
    found = [label for cell in prose for _, label in _EQUATION.findall(cell.source)]
    numbers = {label: place for place, label in enumerate(found, start=1)}

    def tagged(match):
        body, label = match.groups()
        tag = f"{body} \\tag{{{numbers[label]}}}"
        return f"({label})=\n\\begin{{equation*}}\n{tag}\n\\end{{equation*}}"

    def reference(match):
        label = match[1]
        return f"{{ref}}`({numbers[label]}) <{label}>`" if label in numbers else match[0]

    for cell in prose:
        cell.source = _EQUATION.sub(tagged, cell.source)
        cell.source = re.sub(r"\{eq\}`([\w:.-]+)`", reference, cell.source)


def rename_labels(text, labels, run_name):
    """Append the run's name to each label, where it is defined and where it is referred to."""
    for label in labels:
        whole = rf"(?<![\w:.-]){re.escape(label)}(?![\w:.-])"
        # Two dashes: no label has them, so no label and run can join to another pair's name.
        text = re.sub(whole, f"{label}--{run_name}", text)
    return text


def take_stderr(notebook):
    """Take what was written to stderr out of the cells; return it with the cells' numbers."""
    taken = []
    for cell in notebook.cells:
        outputs = cell.get("outputs", [])
        written = "".join(o.text for o in outputs if o.get("name") == "stderr")
        if written:
            taken.append({"cell": cell.execution_count, "text": written})
            cell.outputs = [output for output in outputs if output.get("name") != "stderr"]
    return taken


def given_as_text(values):
    """Write parameters as Markdown code, which shows whatever characters they hold."""
    return ", ".join(_code_span(f"{name} = {value!r}") for name, value in values.items())


def _code_span(text):
    fence = _fence(text, 1)
    return f"{fence} {text} {fence}" if "`" in text else f"{fence}{text}{fence}"


def _fence(text, shortest):
    """More backticks than the text has anywhere, so that none of them can end it."""
    return max(["`" * shortest, *("`" + ticks for ticks in re.findall("`+", text))], key=len)


def _retitle(notebook, source_name, run_name, values, stderr):
    title = notebook.cells[0]
    title.source = re.sub(r"^(# .*)$", rf"\1 — run {run_name}", title.source, count=1, flags=re.M)
    text = (
        f":::{{note}}\nA rerun of {{doc}}`/notebooks/{source_name}`. Parameters given: "
        f"{given_as_text(values) or 'none'}. The answer below and the sentences speak of the "
        "published runs; the numbers after the parameters are this run's own.\n:::"
    )
    if stderr:
        text += "\n\n" + _folded(stderr)
    note = nbformat.v4.new_markdown_cell(text, id="rerun-note")
    notebook.cells.insert(1, note)


def _folded(stderr):
    text = "\n".join(f"[cell {each['cell']}]\n{each['text'].rstrip()}" for each in stderr)
    fence = _fence(text, 3)
    return f":::{{dropdown}} This run wrote to stderr\n{fence}text\n{text}\n{fence}\n:::"


def read_reruns(folder):
    """Read what is known of each rerun in a folder, and why other notebooks there are none."""
    reruns, refused = {}, {}
    for path in sorted(Path(folder).glob("*.ipynb")):
        try:
            facts = nbformat.read(path, as_version=4).metadata.get("ddr", {}).get("run", {})
            for key, kind in _FACTS.items():
                if not isinstance(facts.get(key), kind):
                    raise ValueError(f"its metadata do not tell the {key} of a run")
            reruns[path] = facts
        except (OSError, ValueError, AttributeError, nbformat.ValidationError) as error:
            why = str(error).splitlines()[0][:80]
            refused[path] = f"{path.name} was not written by `ddr-book run`, left out: {why}"
    return reruns, refused
