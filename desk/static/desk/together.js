// Names of colleagues while they are typed: the whole of a box, or behind an @ in a text. All of it
// works without: a name can be typed out.
"use strict";
(() => {
  const place = document.querySelector("[data-colleagues-url]");
  if (!place) return;

  const complete = (box) => {
    const whole = box.dataset.colleagues === "whole";
    const help = whole && document.getElementById("hand-over-help");
    const usual = help.textContent;
    // What may speak against the colleague is read before the first Ctrl+Enter, which so confirms it.
    const warn = (concerns) => {
      if (!whole) return;
      help.textContent = concerns || usual;
      help.classList.toggle("desk-warn", Boolean(concerns));
      box.form.elements.confirmed.value = concerns ? "1" : "";
    };
    let waiting;
    let asked = 0;

    // What is being typed: null where it is no name.
    const begun = () => {
      const before = box.value.slice(0, box.selectionStart);
      if (whole) return before === box.value ? before.replace(/^@/, "") : null;
      const found = before.match(/(?:^|[\s(,;:])@([\p{L}\p{N}_.+-]*)$/u);
      return found ? found[1] : null;
    };
    const part = (name, text) => Object.assign(document.createElement(name), { textContent: text });
    const { show, close } = window.deskChooser(box, {
      label: place.dataset.colleaguesLabel,
      // Below what is typed there is no room in a box at the end of the page.
      above: !whole,
      keys: ["Enter", "Tab"],
      draw: (agent) => [part("strong", agent.name), part("span", agent.full_name), part("small", agent.carries)],
      choose: ({ name }) => {
        const end = box.selectionStart;
        if (whole) box.value = name;
        else box.setRangeText(`${name} `, end - begun().length, end, "end");
        box.dispatchEvent(new Event("input"));
        if (whole) setTimeout(() => ask(name, true));
      },
      closed: () => { clearTimeout(waiting); asked += 1; },
    });
    const ask = async (begin, chosen) => {
      asked += 1;
      const mine = asked;
      try {
        const query = new URLSearchParams({ begin, ticket: whole ? place.dataset.ticket : "" });
        const answer = await fetch(`${place.dataset.colleaguesUrl}?${query}`);
        if (!answer.ok || mine !== asked) return;
        const { agents } = await answer.json();
        if (mine !== asked) return;
        warn(agents.find((one) => one.name === begin)?.concerns);
        // What is typed in full needs no choice.
        show(chosen || agents.length === 1 && agents[0].name === begin ? [] : agents);
      } catch { /* it can be typed out */ }
    };
    box.addEventListener("input", () => {
      clearTimeout(waiting);
      warn("");
      const begin = begun();
      if (begin === null || (whole && !begin)) { close(); return; }
      waiting = setTimeout(() => ask(begin), 120);
    });
  };
  const begin = () => document.querySelectorAll("[data-colleagues]").forEach(complete);
  // walk.js shows another ticket in the place of this one.
  document.addEventListener("desk:ticket", begin);
  begin();
})();
