// The reason code beside a reply: shown while the reply also decides, with the codes of that decision.
"use strict";
(() => {
// For the ticket that is there; walk.js may show another in its place.
const start = () => {
  const to = document.getElementById("to");
  const code = document.querySelector("select[data-decides]");
  if (!to || !code) return;
  const fit = () => {
    const groups = [...code.querySelectorAll("optgroup")];
    const mine = groups.find((group) => group.dataset.to === to.value);
    groups.forEach((group) => { group.hidden = group.disabled = group !== mine; });
    code.hidden = !mine;
    const chosen = code.selectedOptions[0];
    if (chosen && chosen.parentElement.disabled) code.value = "";
  };
  to.addEventListener("change", fit);
  // A macro may have chosen the move.
  document.getElementById("composer").addEventListener("input", fit);
  fit();
};
document.addEventListener("desk:ticket", start);
start();
})();
