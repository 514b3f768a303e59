// A list of tickets that is open: rows that change are marked, new tickets are announced. Rows stay
// where they are.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const bell = document.getElementById("desk-bell");
  const place = document.querySelector("[data-live-queue]");
  if (!bell || !place) return;
  const words = bell.dataset;
  const query = new URLSearchParams(location.search);
  const narrowed = [...query.keys()].some((key) => !["queue", "p", "o", "list"].includes(key));
  const first = !Number(query.get("p") || "1") || (query.get("p") || "1") === "1";
  const known = new Map();
  const came = new Set();
  const changed = new Set();
  const entered = new Set();
  let looking = false;

  const row = (ticket) => document.querySelector(`tr[data-ticket="${ticket}"]`);
  const isNew = (token) => {
    const [ticket] = token.split("-");
    const had = known.get(ticket) || row(ticket)?.dataset.seen;
    known.set(ticket, token);
    return had !== token;
  };

  document.addEventListener("desk:live", async ({ detail: news }) => {
    if (news.stale) return announce(words.reload);
    (news.changed || []).filter(isNew).map((token) => token.split("-")[0]).filter(row).forEach((one) => changed.add(one));
    if (first) (news.entered || []).map((token) => token.split("-")[0]).filter((one) => !row(one) && !came.has(one)).forEach((one) => entered.add(one));
    await show();
  });
  document.addEventListener("visibilitychange", () => show());

  // What could not be fetched, since nobody looks or the service did not answer, waits for the next time.
  const show = async () => {
    if (!narrowed) { count([...entered]); entered.clear(); }
    if (!changed.size && !entered.size) return;
    const [rows, tickets] = [[...changed], [...entered]];
    const fresh = await look();
    if (!fresh) return;
    rows.forEach((one) => { changed.delete(one); mark(one, fresh.querySelector(`tr[data-ticket="${one}"]`)); });
    tickets.forEach((one) => entered.delete(one));
    count(tickets.filter((one) => fresh.querySelector(`tr[data-ticket="${one}"]`)));
  };

  const look = async () => {
    if (looking || document.hidden) return null;
    looking = true;
    try {
      const answer = await fetch(location.href, { redirect: "manual", cache: "no-store" });
      return answer.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
    } catch { return null; } finally { looking = false; }
  };

  const mark = (ticket, fresh) => {
    const mine = row(ticket);
    if (!fresh) {
      mine.classList.add("desk-row-left");
      mine.title = words.left;
      return;
    }
    mine.classList.remove("desk-row-left");
    mine.classList.add("desk-row-changed");
    mine.title = words.changed;
    // Cell by cell: what is ticked stays ticked, and the focus where it is.
    for (const cell of fresh.cells) {
      const old = [...mine.cells].find((one) => one.className === cell.className);
      if (!old || cell.classList.contains("action-checkbox") || old.innerHTML === cell.innerHTML) continue;
      const focused = old.contains(document.activeElement);
      old.replaceChildren(...cell.childNodes);
      if (focused) old.querySelector("a")?.focus({ preventScroll: true });
    }
  };

  const bar = Object.assign(document.createElement("a"), { className: "desk-button desk-came", id: "live-came", hidden: true });
  bar.href = location.href;
  bar.addEventListener("click", (event) => { event.preventDefault(); location.reload(); });
  place.prepend(bar);
  const announce = (text) => { bar.textContent = text; bar.hidden = false; };
  const count = (entered) => {
    entered.forEach((one) => came.add(one));
    if (came.size) announce(came.size === 1 ? words.oneTicket : words.tickets.replace("{count}", came.size));
  };
});
