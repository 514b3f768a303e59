// Files of a ticket in a dialog: images, and PDFs page by page. Without it each name is a link to the file.
"use strict";
(() => {
  const dialog = document.getElementById("viewer");
  const links = [...document.querySelectorAll("a[data-view]")];
  if (!dialog || !links.length) return;
  const find = (id) => document.getElementById(id);
  const canvas = find("viewer-canvas");
  const stage = find("viewer-stage");
  let at = 0, page = 1, pages = 1, turn = 0, zoom = 1, picture = null, asked = 0;

  // Fits the stage at zoom 1, whichever way it is turned.
  const draw = () => {
    if (!picture) return;
    const aside = turn % 2 === 1;
    const [width, height] = aside ? [picture.height, picture.width] : [picture.width, picture.height];
    canvas.width = width;
    canvas.height = height;
    const paper = canvas.getContext("2d");
    paper.translate(width / 2, height / 2);
    paper.rotate(turn * Math.PI / 2);
    paper.drawImage(picture, -picture.width / 2, -picture.height / 2);
    const fit = Math.min(stage.clientWidth / width, stage.clientHeight / height, 1);
    canvas.style.width = `${Math.round(width * fit * zoom)}px`;
  };

  const show = async () => {
    const link = links[at];
    const mine = ++asked;
    find("viewer-name").textContent = link.textContent.trim();
    find("viewer-open").href = link.href;
    const place = find("viewer-place");
    place.textContent = "…";
    const address = link.dataset.pages ? link.dataset.pages.replace(/\d+\/$/, `${page}/`) : link.href;
    try {
      const answer = await fetch(address);
      if (!answer.ok) throw new Error(answer.status);
      pages = Number(answer.headers.get("X-Page-Count") || 1);
      const made = await createImageBitmap(await answer.blob());
      // Somebody who leafs on quickly gets the last one.
      if (mine !== asked) return;
      picture = made;
      place.textContent = link.dataset.pages ? dialog.dataset.page.replace("{page}", page).replace("{pages}", pages) : "";
      draw();
    } catch {
      if (mine !== asked) return;
      picture = null;
      canvas.width = 0;
      place.textContent = dialog.dataset.failed;
    }
  };
  const go = (to, first) => { at = (to + links.length) % links.length; page = first; pages = 1; turn = 0; zoom = 1; show(); };
  const acts = {
    next() { if (page < pages) { page += 1; show(); } else go(at + 1, 1); },
    previous() { if (page > 1) { page -= 1; show(); } else go(at - 1, 1); },
    in() { zoom = Math.min(zoom * 1.5, 8); draw(); },
    out() { zoom = Math.max(zoom / 1.5, 0.25); draw(); },
    rotate() { turn = (turn + 1) % 4; draw(); },
    close() { dialog.close(); },
  };
  const keys = { ArrowRight: "next", ArrowLeft: "previous", "+": "in", "=": "in", "-": "out", r: "rotate" };

  const open = (event, link) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    dialog.showModal();
    stage.focus();
    go(links.indexOf(link), 1);
  };
  links.forEach((link) => link.addEventListener("click", (event) => open(event, link)));
  document.querySelectorAll("a[data-shows]").forEach((small) =>
    small.addEventListener("click", (event) => open(event, links.find((link) => link.dataset.view === small.dataset.shows)))
  );
  dialog.addEventListener("click", (event) => {
    const button = event.target.closest("[data-do]");
    if (button) acts[button.dataset.do]();
  });
  dialog.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    acts[keys[event.key]]();
  });
  window.addEventListener("resize", draw);
})();
