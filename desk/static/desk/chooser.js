// A list beside a box of what fits the words in it, chosen by the arrows and Enter or by a click. What is
// offered, how a line looks and what a choice does is up to whoever asks for it.
"use strict";
(() => {
  let number = 0;
  window.deskFold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

  // `keys` choose beside a click; `draw` gives a line its parts.
  window.deskChooser = (box, { label, above, keys, draw, choose, closed = () => {} }) => {
    const list = Object.assign(document.createElement("div"), { className: "desk-names", id: `names-${++number}`, hidden: true });
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", label);
    list.classList.toggle("desk-above", above);
    box.after(list);
    box.setAttribute("aria-autocomplete", "list");
    box.setAttribute("aria-controls", list.id);
    const combobox = box.tagName === "INPUT";
    if (combobox) { box.setAttribute("role", "combobox"); box.setAttribute("aria-expanded", "false"); }
    let items = [];
    let at = -1;

    const close = () => {
      list.hidden = true;
      at = -1;
      box.removeAttribute("aria-activedescendant");
      if (combobox) box.setAttribute("aria-expanded", "false");
      closed();
    };
    const mark = (to) => {
      at = to < 0 ? -1 : to % items.length;
      [...list.children].forEach((line, index) => line.setAttribute("aria-selected", String(index === at)));
      const line = list.children[at];
      if (!line) { box.removeAttribute("aria-activedescendant"); return; }
      box.setAttribute("aria-activedescendant", line.id);
      line.scrollIntoView({ block: "nearest" });
    };
    const take = (item) => { choose(item); close(); };
    // The first is marked, so that Enter takes it; a list that only shows what there is marks none.
    const show = (found, first = 0) => {
      if (!found.length || document.activeElement !== box) { close(); return; }
      items = found;
      list.replaceChildren(...found.map((item, index) => {
        const line = Object.assign(document.createElement("div"), { id: `${list.id}-${index}` });
        line.setAttribute("role", "option");
        line.append(...draw(item));
        line.addEventListener("mousedown", (event) => { event.preventDefault(); take(item); });
        return line;
      }));
      list.hidden = false;
      if (combobox) box.setAttribute("aria-expanded", "true");
      mark(first);
    };
    box.addEventListener("blur", close);
    box.addEventListener("keydown", (event) => {
      if (list.hidden || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
      const act = {
        ArrowDown: () => mark(at + 1), ArrowUp: () => mark(at > 0 ? at - 1 : items.length - 1), Escape: close,
      }[event.key] || (keys.includes(event.key) && at >= 0 && (() => take(items[at])));
      if (!act) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      act();
    });
    return { show, close, marked: () => items[at] };
  };
})();
