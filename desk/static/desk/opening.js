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
  const list = Object.assign(document.createElement("datalist"), { id: "companies" });
  box.after(list);
  box.setAttribute("list", list.id);
  let waiting;
  box.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      const asked = new URLSearchParams({ what: box.dataset.names, begin: box.value });
      try {
        const answer = await fetch(`${form.dataset.namesUrl}?${asked}`);
        if (!answer.ok) return;
        const { names } = await answer.json();
        list.replaceChildren(...names.map((name) => new Option(name, name)));
      } catch { /* it can be typed out */ }
    }, 150);
  });
  const first = form.querySelector(".desk-field .desk-error");
  const next = first ? first.closest(".desk-field").querySelector("input, select, textarea") : box.value ? (type.value ? form.elements.shipment || form.elements.text : type) : box;
  if (next) next.focus();
})();
