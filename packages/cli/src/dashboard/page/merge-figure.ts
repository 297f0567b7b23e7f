/**
 * Brings a figure in the page up to date and leaves in place what somebody may be using: what is opened stays open, what is
 * scrolled or has the focus stays as it is.
 */
export function mergeFigure(old: Element, fresh: Element): void {
  const parts = ["figcaption p", ".wide", ".narrow", "thead", "tbody", ".note"].map((selector) => ({
    there: old.querySelector(selector),
    now: fresh.querySelector(selector),
  }));
  if (parts.some(({ there, now }) => (there === null) !== (now === null))) {
    replaceFigure(old, fresh);
    return;
  }
  for (const { there, now } of parts) {
    if (there === null || now === null || there.innerHTML === now.innerHTML) continue;
    there.replaceChildren(...now.childNodes);
  }
}

/** Puts one that is built otherwise in the place of the old one. */
function replaceFigure(old: Element, fresh: Element): void {
  if (old.querySelector("details[open]") !== null) {
    fresh.querySelector("details")?.setAttribute("open", "");
  }
  const focus = old.ownerDocument.activeElement;
  const used = ["summary", ".scroll"].find(
    (selector) => focus !== null && old.querySelector(selector) === focus,
  );
  old.replaceWith(fresh);
  if (used !== undefined) fresh.querySelector<HTMLElement>(used)?.focus();
}
