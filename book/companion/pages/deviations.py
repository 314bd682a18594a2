"""What the deviations page includes: each open choice, what we did, and its measured effect."""

from companion.evidence.deviations import measured_effects


def files(evidence):
    """Give the fragment of the deviations page."""
    return {"deviations.md": sections_text(measured_effects(evidence.results, evidence.claims))}


def sections_text(effects):
    """Give each deviation its section."""
    sections = []
    for row in effects.itertuples():
        measured = "\n".join(f"  - {sentence}" for sentence in row.effect)
        sections.append(
            f"## {row.title}\n\n"
            f"- **The paper:** {row.open}\n"
            f"- **Here:** {row.ours}\n"
            f"- **Why:** {row.why}\n"
            f"- **Measured effect:**\n{measured}\n"
        )
    return "\n".join(sections)
