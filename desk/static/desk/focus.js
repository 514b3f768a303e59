// Unfold hides the page until its scripts have run, and what is hidden does not get the focus.
document.addEventListener("alpine:initialized", () =>
  requestAnimationFrame(() => {
    const first = document.querySelector("[autofocus]");
    if (first && (document.activeElement || document.body) === document.body) first.focus();
  })
);
