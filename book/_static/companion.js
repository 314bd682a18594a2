// What the theme and docutils leave out, and readers stumble over.
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
  // A click on a heading sorts such a table by its column: by the number that a cell begins with, or by its text.
  for (const table of document.querySelectorAll("table.sortable")) {
    table.querySelectorAll("thead th").forEach((head, column) => {
      const button = document.createElement("button");
      button.append(...head.querySelector("p").childNodes);
      head.querySelector("p").append(button);
      button.addEventListener("click", () => {
        const up = head.ariaSort !== "ascending";
        const key = (row) => row.cells[column].textContent.trim().replace("−", "-");
        const number = (text) => (/^[-+]?[\d.]/.test(text) ? parseFloat(text) : NaN);
        const order = (a, b) => number(a) - number(b) || a.localeCompare(b);
        const rows = [...table.tBodies[0].rows].sort((a, b) => (up ? 1 : -1) * order(key(a), key(b)));
        table.tBodies[0].append(...rows);
        for (const other of table.querySelectorAll("thead th")) other.ariaSort = null;
        head.ariaSort = up ? "ascending" : "descending";
      });
    });
  }
  // Pictures of several panels, or of many labelled rows, are too wide for a phone; the style sheet lets
  // them scroll, and what scrolls must be reachable by keyboard.
  const mark = () => {
    for (const image of document.querySelectorAll("article figure img")) {
      const [width, height] = [image.naturalWidth, image.naturalHeight];
      image.classList.toggle("ddr-wide", width > 1.45 * height || (width > 970 && width > height));
    }
    const boxes = "article :is(figure, .pst-scrollable-table-container, .output.text_html, .ddr-left)";
    for (const box of document.querySelectorAll(boxes)) {
      const scrolls = box.scrollWidth > box.clientWidth + 1;
      box.toggleAttribute("data-ddr-scrolls", scrolls);
      if (scrolls) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };
  window.addEventListener("load", mark);
  window.addEventListener("resize", mark);
});
