// One box for everything: what this page can do, where else there is to go, and what is searched
// for. The link in the header leads to a page that offers the same without this.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const dialog = document.getElementById("desk-palette");
  if (!dialog) return;
  const box = document.getElementById("palette-text");
  const list = document.getElementById("palette-list");
  const none = document.getElementById("palette-none");
  const ACTIONS = ".desk-move, #hand-over, #watch button, #claim, #take-next button, #desk-take button, #walk-next, #walk-previous, #turn";
  let shown = [];
  let at = 0;
  let asked = 0;
  let waiting;
  let arrived = null;
  let enter = false;

  const fold = window.deskFold;
  const fits = (title, words) => {
    const parts = fold(title).split(/\s+/);
    return fold(words).split(/\s+/).filter(Boolean).every((word) => parts.some((part) => part.startsWith(word)));
  };
  const label = (element) => {
    const copy = element.cloneNode(true);
    copy.querySelectorAll("kbd").forEach((key) => key.remove());
    return copy.textContent.trim();
  };
  // What the page itself can do: its buttons and links, and its macros.
  const commands = () => {
    const found = [...document.querySelectorAll(ACTIONS)].map((element) => ({
      title: label(element), detail: dialog.dataset.page, run: () => element.click(),
    }));
    for (const option of document.querySelectorAll("#macro-list option[data-text]")) {
      found.push({ title: option.textContent, detail: dialog.dataset.macro, run: () => option.dispatchEvent(new Event("desk:use", { bubbles: true })) });
    }
    return found;
  };

  const mark = (to) => {
    at = shown.length ? (to + shown.length) % shown.length : 0;
    [...list.children].forEach((item, index) => item.setAttribute("aria-selected", String(index === at)));
    const item = list.children[at];
    if (!item) { box.removeAttribute("aria-activedescendant"); return; }
    box.setAttribute("aria-activedescendant", item.id);
    item.scrollIntoView({ block: "nearest" });
  };
  const draw = (offers) => {
    const words = box.value.trim();
    shown = [...commands().filter((one) => fits(one.title, words)), ...offers];
    list.replaceChildren(...shown.map((one, index) => {
      const item = document.createElement("li");
      item.id = `palette-${index}`;
      item.setAttribute("role", "option");
      item.append(Object.assign(document.createElement("strong"), { textContent: one.title }));
      if (one.detail) item.append(Object.assign(document.createElement("span"), { textContent: one.detail }));
      item.addEventListener("click", () => run(one));
      return item;
    }));
    none.hidden = shown.length > 0;
    mark(0);
  };
  const run = (one) => {
    if (!one) return;
    dialog.close();
    if (one.run) one.run();
    else location.assign(one.link);
  };
  const ask = async () => {
    const words = box.value.trim();
    const number = ++asked;
    try {
      const answer = await fetch(`${dialog.dataset.url}?${new URLSearchParams({ as: "json", q: words })}`);
      if (!answer.ok) throw new Error(answer.status);
      const { offers } = await answer.json();
      if (number !== asked) return;
      draw(offers);
    } catch {
      if (number !== asked) return;
      draw([]);
    }
    arrived = words;
    if (enter) { enter = false; run(shown[at]); }
  };

  box.addEventListener("input", () => {
    clearTimeout(waiting);
    enter = false;
    waiting = setTimeout(ask, 80);
  });
  dialog.addEventListener("keydown", (event) => {
    const act = {
      ArrowDown: () => mark(at + 1), ArrowUp: () => mark(at - 1),
      // The first hit of what is typed, also when it is still on its way.
      Enter: () => {
        if (arrived === box.value.trim()) run(shown[at]);
        else { enter = true; clearTimeout(waiting); ask(); }
      },
    }[event.key];
    // Nothing of it is meant for the page behind.
    event.stopPropagation();
    if (!act || event.isComposing) return;
    event.preventDefault();
    act();
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });

  window.deskPalette = () => {
    if (dialog.open) return;
    box.value = "";
    arrived = null;
    enter = false;
    dialog.showModal();
    box.focus();
    draw([]);
    ask();
  };
  const opener = document.getElementById("open-palette");
  if (opener) opener.addEventListener("click", (event) => { event.preventDefault(); window.deskPalette(); });
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented) return;
    const control = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k";
    const typing = event.target.closest("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");
    if (!control && (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey)) return;
    if (document.querySelector("dialog[open]")) return;
    event.preventDefault();
    window.deskPalette();
  });
});
