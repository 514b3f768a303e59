// Asks what is new, for the bell, the badges and the page. The service answers when there is something,
// or after half a minute. Without it all of this is as old as the page.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const bell = document.getElementById("desk-bell");
  if (!bell) return;
  const words = bell.dataset;
  // walk.js may show another in its place.
  const ticket = () => document.getElementById("ticket")?.dataset.ticket;
  // A service that keeps no request is asked every two seconds, any other soon after its answer.
  const EVERY = 2000, AFTER = 500, HIDDEN = 10000, LONGEST = 10000, OTHERS_ASK = 40000;
  let since = 0, pause = 0, timer = 0, stopped = false, asking = false, waits = false;
  // What was told before the page was made is counted in it.
  let notified = Number(words.made), toldUntil = Number(words.told), heard = 0, counted = "";
  // What the last answers told: they would tell it again for a moment.
  const known = [];

  // Other tabs of this browser: what one has heard, all show.
  const tabs = "BroadcastChannel" in window ? new BroadcastChannel("desk") : null;
  const tellTabs = (news) => tabs && tabs.postMessage(news);
  if (tabs) tabs.onmessage = ({ data }) => { heard = Date.now(); if ("unread" in data) showUnread(data.unread); };

  // The queue that a list shows, and its tickets; the ticket that a page shows.
  const asked = () => {
    const found = new URLSearchParams({ since, notified, counted, known: known.slice(-50).join(",") });
    if (!document.hidden) found.set("wait", "1");
    if (ticket()) found.set("ticket", ticket());
    const rows = [...document.querySelectorAll("tr[data-ticket]")].map((row) => row.dataset.ticket);
    const list = document.querySelector("[data-live-queue]");
    if (list) { found.set("queue", list.dataset.liveQueue); found.set("shown", rows.join(",")); }
    return found;
  };

  const ask = async () => {
    if (stopped || asking) return;
    // A tab that nobody looks at leaves it to those that somebody does.
    if (document.hidden && Date.now() - heard < OTHERS_ASK) return next();
    asking = true;
    const lostBefore = lost;
    try {
      const answer = await fetch(`${words.live}?${asked()}`, { redirect: "manual", cache: "no-store", signal: AbortSignal.timeout(45000) });
      if (answer.status === 401 || answer.type === "opaqueredirect") return signedOut();
      if (!answer.ok) throw new Error(answer.status);
      pause = 0;
      // Lost meanwhile: what was asked before proves nothing.
      if (lost === lostBefore) found();
      await take(await answer.json());
    } catch (error) {
      // One that breaks off may be a new version of the service; a second is no accident.
      if (["TypeError", "TimeoutError"].includes(error.name) && (pause || !navigator.onLine)) lose();
      pause = Math.min(LONGEST, (pause || EVERY / 2) * 2);
    } finally {
      asking = false;
      next();
    }
  };
  const next = () => {
    clearTimeout(timer);
    // Pages that were opened together do not ask together for ever.
    const soon = document.hidden ? HIDDEN : waits ? AFTER : EVERY;
    const after = Math.max(pause, soon) * (0.95 + Math.random() / 10);
    if (!stopped) timer = setTimeout(ask, after);
  };
  document.addEventListener("visibilitychange", () => { if (!document.hidden) ask(); });

  const take = async (news) => {
    since = news.now;
    waits = news.waits;
    counted = news.counted;
    tellTabs({});
    if (news.counts) showCounts(news.counts);
    const told = [...(news.changed || []), ...(news.entered || []), ...(news.mine || [])];
    known.push(...told.filter((token) => !known.includes(token)));
    known.splice(0, known.length - 100);
    document.dispatchEvent(new CustomEvent("desk:live", { detail: news }));
    if (news.mine?.length || news.stale || news.notified > notified) {
      notified = Math.max(notified, news.notified);
      await lookAtMine();
    }
  };

  const lookAtMine = async () => {
    const answer = await fetch(words.mine, { redirect: "manual", cache: "no-store" });
    if (!answer.ok) return;
    const mine = await answer.json();
    showUnread(mine.unread);
    tellTabs({ unread: mine.unread });
    showCounts(mine.counts);
    const fresh = mine.newest.filter((one) => one.at > toldUntil).reverse();
    for (const one of fresh) {
      toldUntil = Math.max(toldUntil, one.at);
      const here = Number(ticket()) === one.ticket && !document.hidden;
      if (!here) tell(one);
    }
  };

  // The bell, the title and the badges.
  let unread = Number(words.unread);
  const showTitle = () => {
    const title = document.title.replace(/^\(\d+\+?\) /, "");
    document.title = unread ? `(${unread > 99 ? "99+" : unread}) ${title}` : title;
  };
  document.addEventListener("desk:ticket", showTitle);
  document.addEventListener("desk:unread", ({ detail }) => { showUnread(detail); tellTabs({ unread: detail }); });
  const showUnread = (count) => {
    unread = count;
    const text = count > 99 ? "99+" : String(count);
    const shown = document.getElementById("desk-bell-count");
    shown.textContent = text;
    shown.hidden = !count;
    showTitle();
  };
  showTitle();
  const showCounts = (counts) => {
    for (const [queue, text] of Object.entries(counts)) {
      const link = document.querySelector(`#nav-sidebar a[href="${words.list}?queue=${queue}"]`);
      if (!link) continue;
      let badge = link.querySelector("span + span.font-semibold, .desk-live-badge");
      if (!badge) {
        if (!text) continue;
        const like = document.querySelector("#nav-sidebar a[href*='?queue='] span + span.font-semibold");
        badge = like ? like.cloneNode() : Object.assign(document.createElement("span"), { className: "desk-live-badge" });
        link.append(badge);
      }
      if (badge.textContent.trim() !== text) badge.textContent = text;
      badge.hidden = !text;
    }
  };

  // Toasts stay until they are closed or read, or three newer ones have come.
  const toasts = document.getElementById("desk-toasts");
  // Out of the page's head, which other parts of the page lie over.
  document.body.append(toasts);
  const tell = (one) => {
    const toast = Object.assign(document.createElement("div"), { className: "desk-toast" });
    const link = Object.assign(document.createElement("a"), { href: one.link, textContent: one.text });
    const close = Object.assign(document.createElement("button"), { type: "button", textContent: "×" });
    close.setAttribute("aria-label", words.close);
    close.addEventListener("click", () => toast.remove());
    toast.append(link, close);
    toasts.append(toast);
    while (toasts.children.length > 3) toasts.firstElementChild.remove();
    if (document.hidden && "Notification" in window && Notification.permission === "granted") {
      const outside = new Notification(one.text, { tag: `desk-${one.ticket}` });
      outside.onclick = () => { window.focus(); location.assign(one.link); };
    }
  };

  // While there is no connection, the page says so and sends nothing: what was typed stays where it is.
  let lost;
  const lose = () => {
    if (lost || stopped) return;
    const time = new Date().toLocaleTimeString(document.documentElement.lang, { hour: "numeric", minute: "2-digit" });
    lost = bottomBox();
    lost.id = "desk-lost";
    lost.append(words.lost.replace("{time}", time));
  };
  const found = () => { lost?.remove(); lost = null; };
  window.addEventListener("offline", lose);
  window.addEventListener("online", () => { if (!asking) ask(); });
  document.addEventListener("submit", (event) => {
    // sending.js says it beside the form that was sent.
    if (!lost || event.target.method !== "post" || event.target.closest("#ticket-page")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    lost.textContent = words.unsent;
  }, true);
  const bottomBox = () => {
    const box = Object.assign(document.createElement("div"), { className: "desk-signed-out" });
    box.setAttribute("role", "alert");
    document.body.append(box);
    return box;
  };

  const signedOut = () => {
    stopped = true;
    found();
    const link = Object.assign(document.createElement("a"), { textContent: words.signIn });
    link.href = `/admin/login/?next=${encodeURIComponent(location.pathname + location.search)}`;
    bottomBox().append(`${words.signedOut} `, link);
  };

  ask();
});
