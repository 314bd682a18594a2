"""A slider over pictures as one piece of HTML: no library, no request, works from a local file."""

import base64
import html
import json

__all__ = ["slider"]

_TEMPLATE = """<div id="{name}" style="max-width: {width}px">
<label for="{name}-range">{label}</label>
<input id="{name}-range" type="range" min="0" max="{last}" step="1" value="{start}" \
aria-valuetext="{value}" style="width: 100%">
<p><output id="{name}-text" for="{name}-range" aria-live="polite">{value}</output></p>
<img id="{name}-image" src="{image}" alt="{alt}" style="width: 100%">
<script>
(() => {{
  const frames = {frames};
  const find = (part) => document.getElementById("{name}-" + part);
  find("range").addEventListener("input", (event) => {{
    const frame = frames[event.target.value];
    find("image").src = frame.image;
    find("image").alt = frame.alt;
    find("text").textContent = frame.text;
    event.target.setAttribute("aria-valuetext", frame.text);
  }});
}})();
</script>
</div>
"""


def slider(pictures, texts, alts, *, name, label, start=0, width=760):
    """Let the reader slide through pictures."""
    if not len(pictures) == len(texts) == len(alts) > 0:
        raise ValueError(
            "pictures, texts and alts must have the same positive length, "
            f"got {len(pictures)}, {len(texts)} and {len(alts)}"
        )
    if not 0 <= start < len(pictures):
        raise ValueError(f"start must lie in 0..{len(pictures) - 1}, got {start}")
    images = ["data:image/png;base64," + base64.b64encode(p).decode() for p in pictures]
    frames = [
        {"image": image, "text": text, "alt": alt}
        for image, text, alt in zip(images, texts, alts, strict=True)
    ]
    return _TEMPLATE.format(
        name=html.escape(name),
        label=html.escape(label),
        width=width,
        last=len(pictures) - 1,
        start=start,
        value=html.escape(texts[start]),
        image=images[start],
        alt=html.escape(alts[start]),
        # "</" would end the script element early.
        frames=json.dumps(frames).replace("</", "<\\/"),
    )
