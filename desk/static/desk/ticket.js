// The page of one ticket: dialogs, drafts, presence and keys. All of it works without.
"use strict";
(() => {
// For the ticket that is there; walk.js may show another in its place, and then it starts anew.
const start = () => {
  const page = document.getElementById("ticket");
  if (!page) return;
  const stop = new AbortController();
  const { signal } = stop;
  const find = (id) => document.getElementById(id);
  const text = find("text");
  const composer = find("composer");

  // Dialogs: the links beside them lead to the page that asks the same.
  const open = (id) => {
    const dialog = find(id);
    if (!dialog || dialog.open) return false;
    dialog.showModal();
    const field = dialog.querySelector("[autofocus]") || dialog.querySelector("textarea:not([name=others]), button");
    if (field) field.focus();
    return true;
  };
  document.querySelectorAll("[data-dialog]").forEach((link) =>
    link.addEventListener("click", (event) => {
      if (open(link.dataset.dialog)) event.preventDefault();
    })
  );
  document.querySelectorAll("[data-close]").forEach((button) =>
    button.addEventListener("click", () => button.closest("dialog").close())
  );
  // A page that comes back from the browser's memory is an old one.
  window.addEventListener("pageshow", (event) => event.persisted && location.reload(), { signal });

  // Drafts: kept per ticket and user until the service says that it has taken the text: its cookie
  // names the form.
  const store = {
    key: `desk.draft.${page.dataset.user}.${page.dataset.ticket}`,
    read() { try { return JSON.parse(localStorage.getItem(this.key) || "null"); } catch { return null; } },
    write(value) { try { value ? localStorage.setItem(this.key, JSON.stringify(value)) : localStorage.removeItem(this.key); } catch { /* private window */ } },
    forget(form) {
      try {
        for (const key of Object.keys(localStorage).filter((one) => one.startsWith("desk.draft."))) {
          if ((JSON.parse(localStorage.getItem(key)) || {}).sent === form) localStorage.removeItem(key);
        }
      } catch { /* private window */ }
    },
  };
  const taken = document.cookie.match(/(?:^|; )desk_sent=([0-9a-f-]{36})/);
  if (taken) store.forget(taken[1]);
  // What another tab has sent goes from this one too, unless other words stand here.
  window.addEventListener("storage", ({ key, oldValue, newValue }) => {
    if (key !== store.key || newValue || !oldValue || !text) return;
    const { text: gone, sent } = JSON.parse(oldValue);
    if (sent && text.value === gone) { text.value = ""; hint("draft-hint", page.dataset.draftSent); }
  }, { signal });
  // Each hint has its own place, as a draft is kept only a moment after a key was pressed.
  const hint = (at, words) => { if (find(at)) find(at).textContent = words; };
  if (text) {
    // What was taken back stands here already: a draft goes on from it, or comes below it.
    const draft = store.read(), { back } = composer.dataset;
    if (draft && (!text.value || back)) {
      text.value = text.value && draft.back !== back ? `${text.value}\n\n${draft.text}` : draft.text;
      // The move that goes with the text, so that it does not leave alone.
      if (!back && draft.to && find("to")) {
        find("to").value = draft.to;
        document.querySelectorAll(`[data-codes="${draft.to}"] input`).forEach((one) => { one.checked = one.value === draft.code; });
      }
      hint("draft-hint", page.dataset.draftBack);
    }
    let timer;
    const code = () => composer.querySelector("[data-codes]:enabled :checked")?.value;
    const keep = (sent) => store.write(text.value ? { text: text.value, sent, back, to: find("to")?.value, code: code() } : null);
    composer.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => { keep(); hint("draft-hint", text.value ? page.dataset.draftKept : ""); }, 400);
    });
    document.addEventListener("desk:leave", () => { clearTimeout(timer); keep(); }, { signal });
    composer.addEventListener("submit", () => {
      clearTimeout(timer);
      keep(composer.elements.key.value);
    });
  }

  // What Ctrl+Enter sends, and what that does, in one line: a reply, unless the box was opened for a note.
  let aimed = "reply";
  const move = () => (find("to")?.value ? find("to").selectedOptions[0].textContent.trim() : "");
  const reason = () => {
    const codes = move() && composer.querySelector(`[data-codes="${find("to").value}"]`);
    return codes ? `${page.dataset.aimReason} ${codes.querySelector(":checked ~ span")?.textContent || page.dataset.aimChoose}` : "";
  };
  const tell = () => hint("aim-hint", [aimed === "note" ? page.dataset.aimNote : page.dataset.aimReply, move(), reason()].filter(Boolean).join(" · "));
  function aim(what, focus = true) {
    aimed = what;
    composer.closest(".desk-composer").classList.toggle("desk-as-note", what === "note");
    tell();
    // Words that came back are gone on from, and not begun before.
    if (focus && document.activeElement !== text) { text.focus(); text.selectionStart = text.value.length; }
  }
  if (composer) {
    // What was held back comes back as what it was; a note must not go out as a reply.
    aim(composer.closest("[data-aim]") ? "note" : "reply", false);
    composer.addEventListener("change", () => setTimeout(tell));
    document.addEventListener("desk:aim", ({ detail }) => aim(detail), { signal });
  }

  // Presence: who else is here. Nothing is said when the service does not answer.
  const shown = find("presence");
  let said = "0";
  const writing = () => (text && text.value.trim() ? "1" : "0");
  const poll = async () => {
    if (document.hidden) return;
    said = writing();
    const body = new URLSearchParams({ writing: said });
    const token = document.querySelector("[name=csrfmiddlewaretoken]").value;
    try {
      const answer = await fetch(page.dataset.presence, { method: "POST", body, headers: { "X-CSRFToken": token } });
      if (!answer.ok) return;
      const { present } = await answer.json();
      if (present.join() === [...shown.children].map((one) => one.textContent).join()) return;
      shown.replaceChildren(...present.map((words) => Object.assign(document.createElement("span"), { className: "desk-here", textContent: words })));
    } catch { /* the next one may come through */ }
  };
  if (page.dataset.presence) {
    const polling = setInterval(poll, 15000);
    signal.addEventListener("abort", () => clearInterval(polling));
    // The first words, and the last ones that go, are told at once.
    text.addEventListener("input", () => { if (writing() !== said) poll(); });
  }

  // The page ends where the window does, whatever stands above it. The thread opens at what is
  // new, else at its end; where the whole page scrolls, so does the page.
  const thread = find("thread");
  const fit = () => page.parentElement.style.setProperty("--desk-top", `${Math.round(page.getBoundingClientRect().top + scrollY)}px`);
  const unroll = () => {
    fit();
    const news = find("new");
    if (thread.scrollHeight > thread.clientHeight + 1) thread.scrollTop = news ? news.offsetTop - 16 : thread.scrollHeight;
    else if (matchMedia("(max-width: 74.99rem)").matches && !location.hash) {
      if (news) news.scrollIntoView({ block: "start" });
      else if (composer && thread.offsetHeight > innerHeight) composer.scrollIntoView({ block: "end" });
    }
  };
  // Unfold hides the page until its scripts have run: nothing has a height before.
  document.addEventListener("alpine:initialized", () => setTimeout(unroll), { signal });
  if (thread.offsetHeight) unroll();
  window.addEventListener("resize", fit, { signal });

  // Keys: single letters, never while something is being typed or a dialog is open.
  const keys = {
    c: () => document.querySelector(".desk-head [data-copy]")?.click(), r: () => text && aim("reply"), n: () => text && aim("note"), m: () => find("macro")?.focus(),
    t: () => { const form = find("take-next"); if (form) form.requestSubmit(); },
    h: () => { const link = find("hand-over"); if (link) link.click(); },
    s: () => {
      const box = find("snooze");
      if (box) box.open = true;
      const button = box?.querySelector("button");
      if (box?.matches("details")) button.focus(); else button?.click();
    },
    w: () => { const form = find("watch"); if (form) form.requestSubmit(form.querySelector("button")); },
    j: () => find("walk-next")?.click(), k: () => find("walk-previous")?.click(), "/": () => window.deskPalette?.(),
    "?": () => open("help"),
  };
  // The moves that are offered bring their own.
  document.querySelectorAll("[data-key]").forEach((link) => { keys[link.dataset.key] = () => link.click(); });
  let before = "";
  document.addEventListener("keydown", (event) => {
    const at = event.target;
    const typing = at.closest("input, textarea, select, [contenteditable]");
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && (at.tagName === "TEXTAREA" || at.closest("dialog input"))) {
      event.preventDefault();
      // A key held down must not confirm what the page that comes back asks to be read.
      if (event.repeat) return;
      const form = at.form;
      form.requestSubmit(at === text ? find(`send-${aimed}`) : form.querySelector(".desk-primary"));
      return;
    }
    if (event.key === "Escape" && typing && !at.closest("dialog")) { at.blur(); return; }
    if (typing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const led = before;
    before = event.key;
    if (led === "g" && event.key === "q") { location.assign(page.dataset.queue); return; }
    const act = keys[event.key];
    if (act) { event.preventDefault(); act(); }
  }, { signal });
  // After whatever else there is to do on leaving.
  document.addEventListener("desk:leave", () => stop.abort(), { signal });
};
document.addEventListener("desk:ticket", start);
start();
})();
