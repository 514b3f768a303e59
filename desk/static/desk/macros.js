// Macros by any part of their names. What one says and does is shown before it fills the box, and nothing
// is filled in or sent that does not match what was typed. Without this there is a list to choose from.
"use strict";
(() => {
// For the ticket that is there; walk.js may show another in its place.
const start = () => {
  const find = (id) => document.getElementById(id);
  const select = find("macro"), text = find("text"), composer = find("composer"), page = find("ticket");
  if (!select || !text) return;
  const words = page.dataset;
  const box = Object.assign(document.createElement("input"), { type: "text", id: "macro", autocomplete: "off", placeholder: words.macroFind });
  box.setAttribute("aria-describedby", "macro-hint");
  const place = Object.assign(document.createElement("div"), { className: "desk-choose" });
  place.append(box);
  select.before(place);
  // The options stay: the palette offers them too.
  Object.assign(select, { id: "macro-list", hidden: true, name: "" });
  find("use-macro").hidden = true;
  const hint = (said) => { find("macro-hint").textContent = said; };

  const to = find("to"), label = (id) => find(id).firstChild.textContent.trim();
  const offered = (value) => value && to && [...to.options].find((one) => one.value === value);
  const all = [...select.options].filter((one) => one.value).map((option) => {
    const { text: says, requested, final, code } = option.dataset;
    const move = offered(option.dataset.to), reply = option.dataset.public === "1";
    return {
      name: option.textContent, folded: window.deskFold(option.textContent), says, reply, move, option, code,
      requested: requested.split("\n").filter(Boolean), decides: Boolean(final),
    };
  });
  const part = (name, said) => Object.assign(document.createElement(name), { textContent: said });
  const does = (one) => [label(one.reply ? "send-reply" : "send-note"), one.move && one.move.textContent.trim(), ...one.requested].filter(Boolean).join(" · ");
  const use = (one) => {
    text.value = [text.value.trimEnd(), one.says].filter(Boolean).join("\n\n");
    if (to) { to.value = one.move ? one.move.value : ""; to.dispatchEvent(new Event("change")); }
    find("asks").replaceChildren(...one.requested.map((name) => {
      const line = document.createElement("label");
      const tick = Object.assign(document.createElement("input"), { type: "checkbox", name: "requested", value: name, checked: true });
      line.append(tick, ` ${name}`);
      return line;
    }));
    const codes = [...composer.querySelectorAll("[data-codes]:enabled input")];
    codes.forEach((choice) => { choice.checked = choice.value === one.code; });
    box.value = one.name;
    hint("");
    document.dispatchEvent(new CustomEvent("desk:aim", { detail: one.reply ? "reply" : "note" }));
    text.dispatchEvent(new Event("input", { bubbles: true }));
    if (codes.length && !codes.some((choice) => choice.checked)) codes[0].focus();
  };
  const { show, marked } = window.deskChooser(box, {
    label: words.macroList, above: true, keys: ["Enter"], choose: use,
    draw: (one) => [part("strong", one.name), part("span", does(one)), part("p", one.says)],
  });
  const wordsOf = (text) => window.deskFold(text).split(/\s+/).filter(Boolean);
  const isWhole = (one) => wordsOf(one.name).join(" ") === wordsOf(box.value).join(" ");
  // A macro whose whole name was typed comes before those that contain it.
  const fitting = () => {
    const typed = wordsOf(box.value);
    const found = all.filter((one) => typed.every((word) => one.folded.includes(word)));
    return found.sort((one, other) => isWhole(other) - isWhole(one));
  };
  const look = () => {
    const found = fitting();
    hint(found.length ? "" : words.macroNone);
    show(found, box.value.trim() ? 0 : -1);
  };
  box.addEventListener("input", look);
  box.addEventListener("focus", () => { box.select(); show(all, -1); });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    if (!event.ctrlKey && !event.metaKey) { look(); return; }
    // A key held down, or a choice among several, is no choice.
    if (event.repeat) return;
    const found = fitting(), whole = found.filter(isWhole);
    const one = whole.length === 1 ? whole[0] : found.length === 1 ? found[0] : null;
    if (!one || (marked() && marked() !== one)) { hint(found.length ? words.macroMany : words.macroNone); return; }
    const alone = !text.value.trim();
    use(one);
    // What decides, and what stands beside other words, is read first.
    if (alone && !one.decides) composer.requestSubmit(find(one.reply ? "send-reply" : "send-note"));
    else hint(words.macroRead);
  });
  select.form.addEventListener("submit", (event) => event.preventDefault());
  select.addEventListener("desk:use", ({ target }) => use(all.find((one) => one.option === target)));
};
document.addEventListener("desk:ticket", start);
start();
})();
