"""What the deviations page includes: each open choice, what we did, and its measured effect."""

from pathlib import Path

from companion.evidence.deviations import measured_effects
from companion.runs.results import published_results

__all__ = ["sections_text", "write"]


def write(folder, results=None):
    """Write the fragment of the deviations page."""
    results = published_results() if results is None else results
    path = Path(folder) / "deviations.md"
    path.write_text(sections_text(measured_effects(results)), encoding="utf-8")
    return [path]


def sections_text(effects):
    """Give each deviation its section."""
    sections = []
    for row in effects.itertuples():
        measured = "\n".join(f"  - {sentence}" for sentence in row.effect)
        sections.append(
            f"## {row.id}: {row.title}\n\n"
            f"- **The paper:** {row.open}\n"
            f"- **Here:** {row.ours}\n"
            f"- **Why:** {row.why}\n"
            f"- **Measured effect:**\n{measured}\n"
        )
    return "\n".join(sections)
