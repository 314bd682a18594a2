// A citation, a glossary term, an equation or a figure shows itself beside a link to it that is pointed at or focused.
document.addEventListener("DOMContentLoaded", () => {
  const elsewhere = JSON.parse(document.getElementById("ddr-hovers")?.textContent ?? "{}");
  const box = Object.assign(document.createElement("div"), { id: "ddr-hover", className: "tex2jax_process", hidden: true });
  box.setAttribute("role", "tooltip");
  document.body.append(box);
  let link = null;

  function content(href) {
    if (elsewhere[href]) return elsewhere[href];
    if (!/^#(equation|fig)-/.test(href)) return null;
    const target = document.getElementById(href.slice(1));
    const shown = target?.closest("figure") ?? target;
    const copy = shown?.cloneNode(true);
    for (const each of copy ? [copy, ...copy.querySelectorAll("[id]")] : []) each.removeAttribute("id");
    for (const each of copy?.querySelectorAll(".headerlink, .eqno") ?? []) each.remove();
    return copy;
  }

  function hide() {
    link?.removeAttribute("aria-describedby");
    link = null;
    box.hidden = true;
  }

  function show(event) {
    const over = event.target.closest?.("article a[href]");
    if (over === link || box.contains(event.target)) return;
    hide();
    const found = over && content(over.getAttribute("href"));
    if (!found) return;
    link = over;
    link.setAttribute("aria-describedby", box.id);
    box.replaceChildren(found);
    box.hidden = false;
    if (typeof found === "string") globalThis.MathJax?.typesetPromise?.([box]);
    const place = link.getClientRects()[0];
    const above = place.top > innerHeight / 2;
    box.style.left = `${Math.max(8, Math.min(place.left, innerWidth - box.offsetWidth - 8))}px`;
    box.style.top = `${above ? Math.max(8, place.top - box.offsetHeight) : place.bottom}px`;
  }

  document.addEventListener("pointerover", (event) => event.pointerType === "mouse" && show(event));
  document.addEventListener("focusin", (event) => show(event));
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
  document.addEventListener("scroll", hide, { passive: true });
});
