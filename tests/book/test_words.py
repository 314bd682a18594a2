"""Plain English: phrases that a reader stumbles over stay out of the pages."""

BANNED = (
    "by what is published",
    "the print tells apart",
    "print itself tells apart",
    "instead of what is done here",
    "with what is done here",
    "its like is frequent",
    "What was tried to break it",
    "In brackets stands",
    "the print not contradict",
    "within chance of the print",
    "within chance of print",
    "tell the two methods apart as the print",
    "is then a mere selection",
    "nearest to the paper that were found",
    "what a row is called by",
    "goes to the class ratio",
    "What do both do",
    "the calls that change",
)


def test_no_page_has_a_phrase_that_needs_reading_twice(root):
    files = [root / "README.md", *(root / "book").glob("**/*.md"), *(root / "book").glob("*.yml")]
    files += (root / "notebooks").glob("*.ipynb")
    found = [
        f"{path.relative_to(root)}: {phrase}"
        for path in files
        for text in [" ".join(path.read_text(encoding="utf-8").replace("\\n", " ").split())]
        for phrase in BANNED
        if phrase in text
    ]
    assert found == []
