// What a form of the ticket's page sends, or of a page that asks one thing, goes without a step of the
// browser's history: Back leads to where the page was opened from, and never to a form that was sent.
// Whatever goes wrong keeps what was typed.
"use strict";
(() => {
// Between pages, and for what is refused on a page of its own, the browser sends as it always does.
const leave = (form, submitter) => {
  form.dataset.plain = "1";
  form.requestSubmit(submitter);
};
const send = async (form, submitter) => {
  const button = submitter && submitter.closest("form") === form ? submitter : undefined;
  const answer = await fetch(button?.hasAttribute("formaction") ? button.formAction : form.action, {
    method: "POST", body: new FormData(form, button), headers: { "Desk-Page": "1" },
  });
  const next = answer.headers.get("Desk-Next");
  if (next) { location.replace(next); return; }
  const held = answer.status === 409 || answer.status === 400;
  if (!held || !(await window.deskShow?.(answer))) leave(form, button);
};
document.addEventListener("keydown", (event) => {
  const form = event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.closest(".desk-ask, .desk-form");
  if (!form) return;
  event.preventDefault();
  form.requestSubmit(form.querySelector("button.desk-primary"));
});
document.addEventListener("submit", async (event) => {
  const form = event.target;
  // A file that comes down leaves the page as it is.
  if (event.defaultPrevented || form.method !== "post" || "download" in form.dataset || "plain" in form.dataset) return;
  if (!form.closest("#ticket-page, .desk-ask, .desk-form")) return;
  event.preventDefault();
  // A second click while the first is on its way is for nothing.
  if (form.dataset.sent) return;
  form.dataset.sent = "1";
  // Of many it takes seconds: the button says that they are under way.
  const busy = form.querySelector("[data-busy]");
  const verb = busy?.textContent;
  if (busy) busy.textContent = busy.dataset.busy;
  try {
    await send(form, event.submitter);
  } catch {
    const words = document.querySelector("[data-offline]").dataset.offline;
    const box = Object.assign(document.createElement("p"), { className: "desk-refusal desk-offline", textContent: words });
    box.setAttribute("role", "alert");
    form.querySelector(".desk-offline")?.remove();
    form.prepend(box);
    if (busy) busy.textContent = verb;
  } finally {
    delete form.dataset.sent;
  }
});
})();
