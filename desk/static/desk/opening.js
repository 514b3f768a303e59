// "New ticket": the fields of a type as soon as it is chosen, names of companies while they are typed,
// and Ctrl+Enter. All of it works without.
"use strict";
(() => {
  const form = document.getElementById("new-ticket");
  if (!form) return;
  const type = form.elements.type;
  form.classList.add("desk-quick");
  type.addEventListener("change", () => form.requestSubmit(form.querySelector("[name=choose]")));
  form.addEventListener("keydown", (event) => {
    const send = form.querySelector(".desk-primary");
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && send) { event.preventDefault(); form.requestSubmit(send); }
  });
  // A second click while the first is on its way is for nothing.
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "1";
  });
  window.addEventListener("pageshow", () => { delete form.dataset.sent; });

  const box = form.elements.company;
  const place = Object.assign(document.createElement("div"), { className: "desk-choose" });
  box.before(place);
  place.append(box);
  const list = window.deskChooser(box, {
    label: box.labels[0].textContent.trim(), above: false, keys: ["Enter", "Tab"],
    draw: (name) => [name], choose: (name) => { box.value = name; type.focus(); },
  });
  let waiting;
  box.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      const begin = box.value.trim();
      if (!begin) { list.close(); return; }
      try {
        const asked = new URLSearchParams({ what: box.dataset.names, begin });
        const answer = await fetch(`${form.dataset.namesUrl}?${asked}`);
        const { names } = await answer.json();
        if (begin === box.value.trim()) list.show(names);
      } catch { /* it can be typed out */ }
    }, 150);
  });
  const first = form.querySelector(".desk-field .desk-error");
  const next = first ? first.closest(".desk-field").querySelector("input, select, textarea") : box.value ? (type.value ? form.elements.shipment || form.elements.text : type) : box;
  if (next) next.focus();
})();
