// Unfold hides the page until its scripts have run, and what is hidden does not get the focus.
// A timer, not a frame: a busy browser may draw none for minutes, and keys work all the same.
document.addEventListener("alpine:initialized", () =>
  setTimeout(() => {
    const first = document.querySelector("[autofocus]");
    if (first && (document.activeElement || document.body) === document.body) first.focus();
  })
);
