// Names of colleagues while they are typed: the whole of a box, or behind an @ in a text. All of it
// works without: a name can be typed out.
"use strict";
(() => {
  const place = document.querySelector("[data-colleagues-url]");
  if (!place) return;

  const complete = (box) => {
    const whole = box.dataset.colleagues === "whole";
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
      },
      closed: () => { clearTimeout(waiting); asked += 1; },
    });
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
  };
  const begin = () => document.querySelectorAll("[data-colleagues]").forEach(complete);
  // walk.js shows another ticket in the place of this one.
  document.addEventListener("desk:ticket", begin);
  begin();
})();
