// Files of a ticket in a dialog: images, and PDFs page by page. Without it each name is a link to the file.
// Parts of the page are exchanged while it is open, so everything is looked up when it is asked for.
"use strict";
(() => {
  const find = (id) => document.getElementById(id);
  let links = [];
  let at = 0, page = 1, pages = 1, turn = 0, zoom = 1, picture = null, asked = 0;

  // Fits the stage at zoom 1, whichever way it is turned.
  const draw = () => {
    const canvas = find("viewer-canvas");
    const stage = find("viewer-stage");
    if (!picture || !canvas) return;
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
      place.textContent = link.dataset.pages ? find("viewer").dataset.page.replace("{page}", page).replace("{pages}", pages) : "";
      draw();
    } catch {
      if (mine !== asked) return;
      picture = null;
      find("viewer-canvas").width = 0;
      place.textContent = find("viewer").dataset.failed;
    }
  };
  const go = (to, first) => { at = (to + links.length) % links.length; page = first; pages = 1; turn = 0; zoom = 1; show(); };
  const acts = {
    next() { if (page < pages) { page += 1; show(); } else go(at + 1, 1); },
    previous() { if (page > 1) { page -= 1; show(); } else go(at - 1, 1); },
    in() { zoom = Math.min(zoom * 1.5, 8); draw(); },
    out() { zoom = Math.max(zoom / 1.5, 0.25); draw(); },
    rotate() { turn = (turn + 1) % 4; draw(); },
    close() { find("viewer").close(); },
  };
  const keys = { ArrowRight: "next", ArrowLeft: "previous", "+": "in", "=": "in", "-": "out", r: "rotate" };

  const open = (name) => {
    links = [...document.querySelectorAll("a[data-view]")];
    find("viewer").showModal();
    find("viewer-stage").focus();
    go(Math.max(links.findIndex((link) => link.dataset.view === name), 0), 1);
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("#viewer [data-do]");
    if (button) acts[button.dataset.do]();
    const link = event.target.closest("a[data-view], a[data-shows]");
    if (!link || !find("viewer") || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open(link.dataset.view || link.dataset.shows);
  });
  document.addEventListener("keydown", (event) => {
    if (!event.target.closest("#viewer") || event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    acts[keys[event.key]]();
  });
  window.addEventListener("resize", draw);
})();
