"""What is left of the generated fragments: the natural shifts'."""

from pathlib import Path

from matplotlib.figure import Figure

from companion.evidence.front import benchmark


def write_all(folder):
    """Write everything that those pages include."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    return write_files(folder, benchmark("shift_page").files())


def write_files(folder, files):
    """Write texts and figures by file name; return the paths."""
    paths = [Path(folder) / name for name in files]
    for path, content in zip(paths, files.values(), strict=True):
        if isinstance(content, Figure):
            content.savefig(path, dpi=200, metadata={"Software": None})
        else:
            path.write_text(content.rstrip("\n") + "\n", encoding="utf-8")
    return paths
