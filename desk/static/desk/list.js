// The list by keyboard. Nothing here is needed: every key has a link, a button or a box.
const rows = () => [...document.querySelectorAll("#result_list tr.data-row")];
let at = -1;

function go(to) {
  const all = rows();
  if (!all.length) return;
  at = Math.min(Math.max(to, 0), all.length - 1);
  all.forEach((row, index) => row.classList.toggle("desk-cursor", index === at));
  link()?.focus({ preventScroll: true });
  all[at].scrollIntoView({ block: "nearest" });
}

const link = () => rows()[at]?.querySelector("a.desk-row");
const help = () => document.getElementById("desk-keys");

const KEYS = {
  j: () => go(at + 1),
  k: () => go(at - 1),
  o: () => link()?.click(),
  x: () => rows()[at]?.querySelector("input.action-select")?.click(),
  "/": () => document.getElementById("searchbar")?.focus(),
  t: () => document.getElementById("desk-take")?.requestSubmit(),
  "?": () => (help()?.open ? help().close() : help()?.showModal()),
};

const typing = (element) =>
  element.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName) && element.type !== "checkbox";

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  if (help()?.open && event.key !== "?") return;
  const act = KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

// Where the mouse or Tab has led, j and k go on from.
document.addEventListener("focusin", (event) => {
  const found = rows().indexOf(event.target.closest("tr.data-row"));
  if (found >= 0 && found !== at) {
    at = found;
    rows().forEach((row, index) => row.classList.toggle("desk-cursor", index === at));
  }
});

document.getElementById("desk-keys-button")?.addEventListener("click", () => KEYS["?"]());

// Names that begin like what is typed into a filter.
for (const box of document.querySelectorAll("input[data-names]")) {
  const list = document.createElement("datalist");
  list.id = `names-${box.name}`;
  box.after(list);
  box.setAttribute("list", list.id);
  let waiting;
  box.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      const asked = new URLSearchParams({ what: box.dataset.names, begin: box.value });
      const answer = await fetch(`${document.getElementById("desk-names").dataset.url}?${asked}`);
      if (!answer.ok) return;
      const { names } = await answer.json();
      list.replaceChildren(...names.map((name) => new Option(name, name)));
    }, 150);
  });
}
