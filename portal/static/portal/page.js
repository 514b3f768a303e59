// The company's page works without this file. With it, a form is sent once, a typed text survives a
// reload, and an open page shows what is new within three seconds.
"use strict";

const SOON = 3_000;
const LATE = 30_000;

document.addEventListener("submit", (event) => {
  const form = event.target;
  const large = form.querySelector("[data-most]");
  if (large) {
    const files = [...form.querySelectorAll("[type=file]")].flatMap((one) => [...one.files]);
    large.hidden = files.reduce((sum, one) => sum + one.size, 0) <= Number(large.dataset.most)
      && files.every((one) => one.size <= Number(large.dataset.each));
    large.scrollIntoView({ block: "nearest" });
  }
  if (form.dataset.sent || large?.hidden === false) return event.preventDefault();
  mark(form, true);
});
// Back brings a page from the browser's memory, with its forms marked as sent.
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) mark(form, false);
});

function mark(form, sent) {
  if (sent) form.dataset.sent = "1";
  else delete form.dataset.sent;
  form.querySelectorAll("[data-sending]").forEach((one) => { one.hidden = !sent; });
}

document.addEventListener("input", (event) => {
  if (!event.target.form) return;
  event.target.form.dataset.touched = "1";
  if ("draft" in event.target.dataset) sessionStorage.setItem(draftOf(event.target), event.target.value);
});
const isSent = new URLSearchParams(location.search).has("sent");
if (isSent) history.replaceState(null, "", location.pathname);
for (const box of document.querySelectorAll("[data-draft]")) {
  if (isSent) sessionStorage.removeItem(draftOf(box));
  const draft = sessionStorage.getItem(draftOf(box));
  if (!draft || box.value) continue;
  box.value = draft;
  box.form.dataset.touched = "1";
}

function draftOf(box) {
  return `draft of ${box.form.getAttribute("action")}`;
}

const live = document.querySelectorAll("[data-live]");
const news = document.getElementById("news");
let version = news.dataset.state ? `"${news.dataset.state}"` : "";
if (live.length) setTimeout(look, SOON, SOON);

// Ask whether the page has changed, and ask again later; a door that is closed stays so.
async function look(wait) {
  let next = SOON;
  try {
    if (!document.hidden) {
      const headers = version ? { "If-None-Match": version } : {};
      const answer = await fetch(location.pathname + location.search, { cache: "no-store", headers });
      if ([403, 404].includes(answer.status)) return;
      if (answer.status !== 304) {
        if (!answer.ok) throw new Error(answer.status);
        renew(await answer.text());
        version = answer.headers.get("ETag");
      }
    }
  } catch {
    next = Math.min(wait * 2, LATE);
  }
  setTimeout(look, next, next);
}

// Replace what has changed, except forms that somebody is filling in.
function renew(text) {
  const fresh = new DOMParser().parseFromString(text, "text/html");
  for (const region of live) {
    const filled = region.querySelector("form") && region.contains(document.activeElement);
    if (filled || region.querySelector("[data-touched]")) continue;
    const now = fresh.getElementById(region.id);
    if (now.isEqualNode(region)) continue;
    region.className = now.className;
    region.replaceChildren(...[...now.childNodes].map((one) => {
      const old = one.id && document.getElementById(one.id);
      return old && old.isEqualNode(one) ? old : document.adoptNode(one);
    }));
    news.textContent = news.dataset.said;
  }
}
