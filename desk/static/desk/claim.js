// The reason code of a decision: its letter chooses it, and the cursor goes on to the text.
"use strict";
(() => {
// For the ticket that is there; walk.js may show another in its place.
const start = () => {
  const to = document.getElementById("to");
  if (!to) return;
  // In the composer there are codes only while the reply also decides, and those of that decision.
  const fit = () => document.querySelectorAll("#composer [data-codes]").forEach((set) => {
    set.hidden = set.disabled = set.dataset.codes !== to.value;
    set.querySelectorAll("input").forEach((code) => { code.required = true; });
  });
  to.addEventListener("change", fit);
  fit();
};
document.addEventListener("desk:ticket", start);
document.addEventListener("keydown", (event) => {
  const set = event.target.closest("[data-codes]");
  if (!set || event.key.length !== 1 || event.ctrlKey || event.metaKey || event.altKey) return;
  // The key that opened the dialog may be held down.
  if (event.repeat) { event.preventDefault(); return; }
  const code = set.querySelectorAll("input")["abcdefghijklmnopqrstuvwxyz".indexOf(event.key)];
  if (code) { event.preventDefault(); code.click(); }
  // Any other sign begins the text.
  set.form.querySelector("[name=reason], [name=text]").focus();
});
start();
})();
