// A page that asks one thing: Ctrl+Enter sends it, as in a dialog.
"use strict";
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  const form = event.target.closest("form.desk-ask, form.desk-form");
  if (!form || form.dataset.sent) return;
  event.preventDefault();
  form.requestSubmit(form.querySelector("button.desk-primary"));
});
document.addEventListener("submit", (event) => {
  if (event.target.dataset.sent) event.preventDefault();
  event.target.dataset.sent = "1";
});
