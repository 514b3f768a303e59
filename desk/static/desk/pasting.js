// Pictures are pasted into the message, files dropped anywhere on the ticket's page: they are added to the
// form's own files, which are shown with a way to remove each. What the service would refuse is said at once.
"use strict";
(() => {
// Outlives a page that is shown again because something was held back.
let kept = { ticket: "", files: [] };
const start = () => {
  const page = document.getElementById("ticket"), input = document.getElementById("files");
  if (!page || !input) return;
  const { words } = input.dataset, form = input.form;
  const said = JSON.parse(words);
  const make = (name, more) => Object.assign(document.createElement(name), more);
  const list = make("ul", { className: "desk-picked", id: "picked" });
  const alarm = make("p", { className: "desk-error", id: "files-refused" });
  alarm.setAttribute("role", "alert");
  input.parentElement.after(list, alarm);
  const say = (lines) => { alarm.textContent = lines.join("\n"); };
  const memory = `desk.files.${page.dataset.user}.${page.dataset.ticket}`;
  const remember = (value) => { try { value ? sessionStorage.setItem(memory, value) : sessionStorage.removeItem(memory); } catch { /* private window */ } };
  let chosen = kept.ticket === page.dataset.ticket ? kept.files : [];

  const small = async (file, canvas) => {
    try {
      const picture = await createImageBitmap(file);
      const part = 48 / Math.max(picture.width, picture.height);
      Object.assign(canvas, { width: Math.ceil(picture.width * part), height: Math.ceil(picture.height * part) });
      canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    } catch { canvas.remove(); }
  };
  const line = (file, place) => {
    const item = make("li", {}), name = make("span", { textContent: file.name });
    const button = make("button", { type: "button", className: "desk-button desk-small", textContent: said.remove });
    button.setAttribute("aria-label", `${said.remove}: ${file.name}`);
    button.addEventListener("click", () => {
      put(chosen.filter((one) => one !== file));
      (list.querySelectorAll("button")[Math.min(place, chosen.length - 1)] || input).focus();
    });
    if (file.type.startsWith("image/")) { const canvas = make("canvas", {}); item.append(canvas); small(file, canvas); }
    item.append(name, button);
    return item;
  };
  const put = (files) => {
    const data = new DataTransfer();
    files.forEach((file) => data.items.add(file));
    input.files = data.files;
    chosen = files;
    kept = { ticket: page.dataset.ticket, files };
    list.replaceChildren(...files.map(line));
    remember(files.length ? JSON.stringify({ key: form.elements.key.value, names: files.map((one) => one.name) }) : "");
  };
  const add = (files) => {
    const taken = [...chosen], refused = [];
    for (const file of files) {
      const total = taken.reduce((sum, one) => sum + one.size, file.size);
      const why = !input.accept.split(",").includes(file.type) ? said.kind : file.size > Number(input.dataset.most) ? said.big
        : taken.length >= Number(input.dataset.count) ? said.many : total > Number(input.dataset.total) ? said.total : "";
      if (why) refused.push(`${file.name}: ${why}`); else taken.push(file);
    }
    put(taken);
    say(refused);
  };

  // What the browser kept no longer than the page; what was sent is not missed.
  try {
    const lost = JSON.parse(sessionStorage.getItem(memory) || "null");
    if (lost && !chosen.length && !document.cookie.includes(`desk_sent=${lost.key}`)) say([`${said.lost} ${lost.names.join(", ")}`]);
  } catch { /* private window */ }
  put(chosen);
  input.addEventListener("change", () => add([...input.files]));
  const stop = new AbortController();
  const { signal } = stop;
  document.addEventListener("desk:leave", () => stop.abort(), { signal });
  let pasted = 0;
  document.getElementById("text").addEventListener("paste", (event) => {
    const { files, types } = event.clipboardData;
    // A table or a text is copied with its picture: the words are meant.
    if (!files.length || [...types].includes("text/plain")) return;
    event.preventDefault();
    add([...files].map((file) => file.name === "image.png" ? new File([file], `image-${++pasted}.png`, { type: file.type }) : file));
  });
  const bears = (event) => [...(event.dataTransfer?.types || [])].includes("Files");
  const mark = (on) => form.parentElement.classList.toggle("desk-drop", on);
  // A file that is dropped beside the form would be opened in the place of the page.
  document.addEventListener("dragover", (event) => { if (bears(event)) { event.preventDefault(); mark(true); } }, { signal });
  document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) mark(false); }, { signal });
  document.addEventListener("drop", (event) => {
    if (!bears(event)) return;
    event.preventDefault();
    mark(false);
    if (!document.querySelector("dialog[open]")) add([...event.dataTransfer.files]);
  }, { signal });
};
document.addEventListener("desk:ticket", start);
start();
})();
