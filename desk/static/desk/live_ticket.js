// What happens on a ticket while its page is open appears there. Nothing that is read or typed moves,
// and what the forms say was seen is raised by what has been on the screen alone.
"use strict";
(() => {
// For the ticket that is there; walk.js may show another in its place.
const start = () => {
  const page = document.getElementById("ticket");
  const thread = document.getElementById("thread");
  const bell = document.getElementById("desk-bell");
  if (!page || !thread || !bell) return;
  // Earlier messages are a page of the past.
  if (new URLSearchParams(location.search).has("before")) return;
  const address = page.dataset.presence ? page.dataset.presence.replace(/presence\/$/, "change/") : location.pathname;
  const parse = (token) => (token || "").split("-").map(Number);
  // What the page shows, and what of it has been on the screen.
  let shown = thread.dataset.seen;
  let looking = false;
  // Something is new that could not be fetched yet: nobody looks, or the service did not answer.
  let pending = false;

  const stop = new AbortController();
  const { signal } = stop;
  document.addEventListener("desk:leave", () => { stop.abort(); observer.disconnect(); }, { signal });
  document.addEventListener("desk:live", ({ detail: news }) => {
    const [, comment, entry] = parse(shown);
    const newer = (news.changed || []).map(parse).some((one) =>
      String(one[0]) === page.dataset.ticket && (one[1] > comment || one[2] > entry));
    pending = pending || newer || Boolean(news.stale);
    look();
  }, { signal });

  const look = async () => {
    if (!pending || looking || document.hidden) return;
    looking = true;
    pending = false;
    try {
      const answer = await fetch(address, { redirect: "manual", cache: "no-store", signal });
      if (!answer.ok) throw new Error(answer.status);
      show(new DOMParser().parseFromString(await answer.text(), "text/html"));
    } catch { pending = true; } finally { looking = false; }
  };

  // Parts that are only read. Open details stay open.
  const PARTS = [".desk-head > .desk-pill", ".desk-clocks", ".desk-history", "#live-files", "#live-requested", "#live-agent"];
  const show = (fresh) => {
    const theirs = fresh.getElementById("thread");
    if (!theirs) return;
    // To fetch the page was to read what the bell told of it.
    const unread = Number(fresh.getElementById("desk-bell")?.dataset.unread || 0);
    document.dispatchEvent(new CustomEvent("desk:unread", { detail: unread }));
    for (const part of PARTS) {
      const [old, other] = [document.querySelector(part), fresh.querySelector(part)];
      if (!old || !other || old.innerHTML === other.innerHTML || old.contains(document.activeElement)) continue;
      const opened = [...old.querySelectorAll("details")].map((one) => one.open);
      old.replaceChildren(...other.childNodes);
      old.className = other.className;
      [...old.querySelectorAll("details")].forEach((one, place) => { one.open = Boolean(opened[place]); });
    }
    const known = new Set([...thread.querySelectorAll("[data-line]")].map((line) => line.dataset.line));
    const added = [...theirs.querySelectorAll("[data-line]")].filter((line) => !known.has(line.dataset.line));
    button.before(...added);
    const token = theirs.dataset.seen;
    const [, comment, entry] = parse(shown);
    shown = token;
    // Entries that stand in the history alone have been on no screen: the forms still tell of them.
    const told = new Set(added.map((line) => line.dataset.line));
    const hidden = [...fresh.querySelectorAll("[data-entry]")].some((one) =>
      Number(one.dataset.entry) > entry && !told.has(`e${one.dataset.entry}`));
    wait(added, hidden ? null : token);
    announce();
  };

  // New lines that have not been on the screen yet; once all have, the forms may say so.
  const unseen = new Set();
  let token = null;
  let kept = true;
  const wait = (lines, newest) => {
    if (newest === null) kept = false;
    token = newest;
    for (const line of lines) { unseen.add(line); observer.observe(line); }
  };
  const observer = new IntersectionObserver((entries) => {
    if (document.hidden) return;
    for (const { target, isIntersecting, intersectionRect, boundingClientRect } of entries) {
      // Its end has been seen: of a long one, the beginning was seen on the way.
      const end = intersectionRect.bottom >= boundingClientRect.bottom - 1;
      if (isIntersecting && end && intersectionRect.height) { unseen.delete(target); observer.unobserve(target); }
    }
    announce();
    if (!unseen.size && kept && token) raise(token);
  }, { threshold: [0, 0.25, 0.5, 0.75, 1] });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return;
    for (const line of unseen) { observer.unobserve(line); observer.observe(line); }
    look();
  }, { signal });

  const raise = (to) => {
    const was = thread.dataset.seen;
    if (was === to) return;
    thread.dataset.seen = to;
    document.querySelectorAll("input[name=seen]").forEach((field) => { if (field.value === was) field.value = to; });
    document.querySelectorAll("a[href*='seen=']").forEach((link) => { link.href = link.href.replace(`seen=${was}`, `seen=${to}`); });
  };

  // A button over the edge of the conversation leads to what came in below.
  const button = Object.assign(document.createElement("button"), { type: "button", className: "desk-button desk-arrived-below", hidden: true });
  button.id = "live-below";
  thread.append(button);
  button.addEventListener("click", () => [...unseen][0]?.scrollIntoView({ block: "start" }));
  const announce = () => {
    button.hidden = !unseen.size;
    button.textContent = unseen.size === 1 ? bell.dataset.oneMessage : bell.dataset.messages.replace("{count}", unseen.size);
  };
};
document.addEventListener("desk:ticket", start);
document.addEventListener("DOMContentLoaded", start);
})();
