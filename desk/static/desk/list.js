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
  x: () => { const row = rows()[Math.max(at, 0)]; row?.querySelector("input.action-select")?.click(); go(Math.max(at, 0) + 1); },
  "/": () => window.deskPalette?.(),
  t: () => document.getElementById("desk-take")?.requestSubmit(),
  "?": () => (help()?.open ? help().close() : help()?.showModal()),
};

// The moves, for what is selected, or for the ticket one is at.
for (const key of document.querySelectorAll("#desk-keys [data-action]")) {
  KEYS[key.textContent.trim()] = () => {
    const form = document.getElementById("changelist-form");
    const action = form?.querySelector("select[name=action]");
    if (!action || !rows().length) return;
    if (!form.querySelector("input.action-select:checked")) rows()[Math.max(at, 0)].querySelector("input.action-select").click();
    action.value = key.dataset.action;
    form.submit();
  };
}

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

// Back from a ticket: at its row, or at what has come in its place.
const table = document.getElementById("result_list");
if (table && "here" in table.dataset) {
  const begin = () => setTimeout(() => go(Number(table.dataset.here)));
  // Unfold hides the page until its scripts have run, and what is hidden does not get the focus.
  if (document.documentElement.hasAttribute("x-cloak")) document.addEventListener("alpine:initialized", begin);
  else begin();
}

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
