// Names of colleagues while they are typed: the whole of a box, or behind an @ in a text. All of it
// works without: a name can be typed out.
"use strict";
(() => {
  const place = document.querySelector("[data-colleagues-url]");
  if (!place) return;
  let number = 0;

  const complete = (box) => {
    const whole = box.dataset.colleagues === "whole";
    const list = Object.assign(document.createElement("div"), { className: "desk-names", id: `names-${++number}`, hidden: true });
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", place.dataset.colleaguesLabel);
    // Below what is typed there is no room in a box at the end of the page.
    list.classList.toggle("desk-above", !whole);
    box.after(list);
    box.setAttribute("aria-autocomplete", "list");
    box.setAttribute("aria-controls", list.id);
    if (whole) { box.setAttribute("role", "combobox"); box.setAttribute("aria-expanded", "false"); }
    let at = 0;
    let waiting;
    let asked = 0;

    // What is being typed: null where it is no name.
    const begun = () => {
      const before = box.value.slice(0, box.selectionStart);
      if (whole) return before === box.value ? before.replace(/^@/, "") : null;
      const found = before.match(/(?:^|[\s(,;:])@([\p{L}\p{N}_.+-]*)$/u);
      return found ? found[1] : null;
    };
    const close = () => {
      clearTimeout(waiting);
      asked += 1;
      list.hidden = true;
      box.removeAttribute("aria-activedescendant");
      if (whole) box.setAttribute("aria-expanded", "false");
    };
    const mark = (to) => {
      const all = [...list.children];
      at = (to + all.length) % all.length;
      all.forEach((one, index) => one.setAttribute("aria-selected", String(index === at)));
      box.setAttribute("aria-activedescendant", all[at].id);
      all[at].scrollIntoView({ block: "nearest" });
    };
    const choose = () => {
      const name = list.children[at].dataset.name;
      const end = box.selectionStart;
      if (whole) box.value = name;
      else box.setRangeText(`${name} `, end - begun().length, end, "end");
      close();
      box.dispatchEvent(new Event("input"));
      close();
    };
    const show = (agents) => {
      if (!agents.length || document.activeElement !== box) { close(); return; }
      list.replaceChildren(...agents.map((agent, index) => {
        const line = Object.assign(document.createElement("div"), { id: `${list.id}-${index}` });
        line.setAttribute("role", "option");
        line.dataset.name = agent.name;
        const strong = Object.assign(document.createElement("strong"), { textContent: agent.name });
        const full = Object.assign(document.createElement("span"), { textContent: agent.full_name });
        const carries = Object.assign(document.createElement("small"), { textContent: agent.carries });
        line.append(strong, full, carries);
        line.addEventListener("mousedown", (event) => { event.preventDefault(); at = index; choose(); });
        return line;
      }));
      list.hidden = false;
      if (whole) box.setAttribute("aria-expanded", "true");
      mark(0);
    };
    const ask = async (begin) => {
      asked += 1;
      const mine = asked;
      try {
        const answer = await fetch(`${place.dataset.colleaguesUrl}?${new URLSearchParams({ begin })}`);
        if (!answer.ok || mine !== asked) return;
        const { agents } = await answer.json();
        // What is typed in full needs no choice.
        if (mine === asked) show(agents.length === 1 && agents[0].name === begin ? [] : agents);
      } catch { /* it can be typed out */ }
    };
    box.addEventListener("input", () => {
      clearTimeout(waiting);
      const begin = begun();
      if (begin === null || (whole && !begin)) { close(); return; }
      waiting = setTimeout(() => ask(begin), 120);
    });
    box.addEventListener("blur", close);
    box.addEventListener("keydown", (event) => {
      if (list.hidden || event.ctrlKey || event.metaKey || event.altKey) return;
      const act = {
        ArrowDown: () => mark(at + 1), ArrowUp: () => mark(at - 1), Enter: choose, Tab: choose, Escape: close,
      }[event.key];
      if (!act || event.shiftKey) return;
      event.preventDefault();
      event.stopPropagation();
      act();
    });
  };
  const begin = () => document.querySelectorAll("[data-colleagues]").forEach(complete);
  // walk.js shows another ticket in the place of this one.
  document.addEventListener("desk:ticket", begin);
  begin();
})();
