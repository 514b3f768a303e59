// What can still be taken back: counts the seconds, sends when they are over, and listens to two keys.
// Without this the buttons do the same, and a worker sends.
"use strict";
(() => {
const bar = () => document.getElementById("desk-waits");
const typing = (at) => at.closest("input, textarea, select, [contenteditable], dialog[open]");
let asking = false, retry = 0;

const put = (html) => {
  const fresh = new DOMParser().parseFromString(html, "text/html").getElementById("desk-waits");
  // The region stays, so that what is new in it is read out.
  if (fresh && bar()) bar().replaceChildren(...fresh.childNodes);
  begin();
};
const ask = async (address, options = {}) => {
  if (asking) return;
  asking = true;
  try {
    const answer = await fetch(address, { redirect: "manual", cache: "no-store", ...options });
    if (answer.ok) put(await answer.text());
    else retry = Date.now() + 5000;
  } catch { retry = Date.now() + 2000; } finally { asking = false; }
};
const send = (form) => ask(form.action, { method: "POST", body: new FormData(form), headers: { "Desk-Bar": "1" } });
const begin = () => bar()?.querySelectorAll("[data-left]").forEach((one) => { one.due = Date.now() + 1000 * one.dataset.left; });
const tick = () => {
  for (const one of bar()?.querySelectorAll("[data-left]") || []) {
    const left = one.due - Date.now();
    const shown = one.querySelector("[data-seconds]");
    shown.textContent = Math.max(0, Math.ceil(left / 1000));
    if (left <= 0 && Date.now() > retry) send(one.querySelector("[data-send]"));
  }
};
const act = (event, kind) => {
  const form = [...(bar()?.querySelectorAll(`[data-${kind}]`) || [])].pop();
  if (!form) return;
  event.preventDefault();
  event.stopPropagation();
  form.requestSubmit();
};
document.addEventListener("submit", (event) => {
  if (!("send" in event.target.dataset) || !bar()?.contains(event.target)) return;
  event.preventDefault();
  send(event.target);
});
document.addEventListener("keydown", (event) => {
  const at = event.target, again = event.key === "Enter" && (event.ctrlKey || event.metaKey);
  // An empty box, from which nothing else would be sent, is no typing.
  const empty = at.id === "text" && !at.value && !at.form.elements.to?.value;
  if (event.repeat || event.defaultPrevented || document.querySelector("dialog[open]")) return;
  if (again && (!typing(at) || empty)) act(event, "send");
  else if (event.key === "z" && !event.ctrlKey && !event.metaKey && !event.altKey && !typing(at)) act(event, "undo");
}, true);
// Another tab may have sent or taken back meanwhile.
const look = () => { if (bar() && !document.hidden) ask(bar().dataset.url); };
document.addEventListener("visibilitychange", look);
window.addEventListener("pageshow", (event) => event.persisted && look());
begin();
setInterval(tick, 250);
})();
