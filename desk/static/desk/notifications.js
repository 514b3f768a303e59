// Notifications outside the page are asked for by a click here, never by themselves.
"use strict";
(() => {
  const button = document.getElementById("desk-allow");
  if (!button || !("Notification" in window) || Notification.permission !== "default") return;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const given = await Notification.requestPermission();
    document.getElementById("desk-allowed").textContent = given === "granted" ? button.dataset.allowed : button.dataset.refused;
    button.hidden = given !== "default";
  });
})();
