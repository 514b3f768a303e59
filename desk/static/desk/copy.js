// Copies what a button names. Where the browser has no clipboard (a page without TLS), by a box of its own.
"use strict";
document.addEventListener("click", async ({ target }) => {
  const button = target.closest?.("[data-copy]");
  if (!button || button.dataset.label) return;
  const by = (text) => {
    const box = Object.assign(document.createElement("textarea"), { value: text, readOnly: true });
    box.style.cssText = "position:fixed;opacity:0";
    button.after(box);
    box.select();
    const copied = document.execCommand("copy");
    box.remove();
    button.focus();
    return copied;
  };
  const text = button.dataset.copy;
  const copied = await (navigator.clipboard?.writeText(text).then(() => true, () => by(text)) ?? by(text));
  if (!copied) return;
  button.dataset.label = button.textContent;
  button.textContent = button.dataset.copied;
  setTimeout(() => { button.textContent = button.dataset.label; delete button.dataset.label; }, 2000);
});
