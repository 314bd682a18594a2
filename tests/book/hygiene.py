"""What a published notebook must be like. Each check yields a sentence per offence."""

import re

from companion.browser.declared import parse_parameters

MAX_LINES, MAX_PARAMETERS = 15, 25
ABSOLUTE_PATH = re.compile(
    r"(?<![\w`/{.])/(?:home|root|tmp|work|usr|var|Users|opt)/\w|\b[A-Z]:\\\w"
)
# sphinx-proof gives it a name that is unique in its page only, and a rerun has the same.
UNLABELLED = re.compile(
    r"^[`:~]{3,}\{prf:(?!proof\})\w+\}.*\n(?!(?::\w+:.*\n)*:label:)", re.MULTILINE
)
INSTALL = re.compile(r"^\s*[!%]|\bpip install\b|\bconda install\b|subprocess", re.MULTILINE)
# A rerun's copy lies in another folder: there only links from the root, to the page or out hold.
RELATIVE = re.compile(
    r"\]\((?!\w+:|#|/)[^)\s]+\)"
    r"|\{doc\}`(?:[^`<]*<)?(?!/)[\w./-]+>?`"
    r"|\{glue(?::\w+)?\}`(?!/)[\w./-]+::[^`]*`"
)


def offences(notebook):
    """All offences of a notebook, each with the number of its cell."""
    checks = (titled, parameters_declared, linked_from_the_root, executed_in_order, quiet, short)
    for check in (*checks, portable, no_install, figures_described):
        yield from check(notebook)


def _code(notebook):
    return [
        (i, c) for i, c in enumerate(notebook.cells) if c.cell_type == "code" and c.source.strip()
    ]


def titled(notebook):
    first = notebook.cells[0] if notebook.cells else None
    if first is None or first.cell_type != "markdown" or not re.search(r"(?m)^# ", first.source):
        yield "the first cell must be Markdown with a # title"


def linked_from_the_root(notebook):
    for i, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            for link in RELATIVE.findall(cell.source):
                yield f"cell {i} has a link that is not from the root: {link}"
            if UNLABELLED.search(cell.source):
                yield f"cell {i} has a theorem or an algorithm without a label"


def executed_in_order(notebook):
    for position, (i, cell) in enumerate(_code(notebook), start=1):
        if cell.execution_count != position:
            yield f"cell {i} has execution count {cell.execution_count}, expected {position}"


def quiet(notebook):
    for i, cell in _code(notebook):
        for output in cell.outputs:
            if output.output_type == "error":
                yield f"cell {i} raised {output.ename}"
            if output.get("name") == "stderr":
                yield f"cell {i} wrote to stderr: {output.text.strip()[:60]!r}"


def short(notebook):
    for i, cell in _code(notebook):
        lines = len(cell.source.strip().splitlines())
        most = MAX_PARAMETERS if "parameters" in cell.metadata.get("tags", []) else MAX_LINES
        if lines > most:
            yield f"cell {i} has {lines} lines, at most {most} are allowed"


def _texts(cell):
    yield cell.source
    for output in cell.get("outputs", []):
        yield output.get("text", "")
        yield from (v for k, v in output.get("data", {}).items() if k.startswith("text/"))


def portable(notebook):
    for i, cell in enumerate(notebook.cells):
        for text in _texts(cell):
            if match := ABSOLUTE_PATH.search(text):
                yield f"cell {i} contains an absolute path: {match[0]!r}"


def no_install(notebook):
    for i, cell in _code(notebook):
        if match := INSTALL.search(cell.source):
            yield f"cell {i} runs a magic, shell or install command: {match[0].strip()!r}"


def parameters_declared(notebook):
    tagged = [c for c in notebook.cells if "parameters" in c.metadata.get("tags", [])]
    if len(tagged) != 1:
        yield f"one cell must be tagged parameters, got {len(tagged)}"
        return
    try:
        parse_parameters(tagged[0].source)
    except ValueError as error:
        yield str(error)


def figures_described(notebook):
    for i, cell in _code(notebook):
        kinds = {kind for output in cell.outputs for kind in output.get("data", {})}
        options = cell.metadata.get("mystnb", {})
        if kinds & {"image/png", "image/svg+xml", "image/jpeg"}:
            if len(options.get("image", {}).get("alt", "").split()) < 3:
                yield f"cell {i} shows a figure without alt text (metadata mystnb.image.alt)"
            if not options.get("figure", {}).get("caption", "").strip():
                yield f"cell {i} shows a figure without a caption (metadata mystnb.figure.caption)"
