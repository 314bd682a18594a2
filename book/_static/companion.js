// Two omissions of the theme and of docutils that screen readers stumble over.
document.addEventListener("DOMContentLoaded", () => {
  // The arrows that open a part of the sidebar have no name of their own.
  for (const summary of document.querySelectorAll("nav details > summary")) {
    const link = summary.closest("li")?.querySelector("a");
    summary.setAttribute("aria-label", `Pages under ${link?.textContent.trim() ?? "this entry"}`);
  }
  // The items of a list of citations are not marked as its items.
  for (const item of document.querySelectorAll(".citation-list[role=list] > .citation")) {
    item.setAttribute("role", "listitem");
  }
});
