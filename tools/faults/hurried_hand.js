// The screen as an agent sees it, for the ledger of tools/faults/hurried_hand.py.
() => {
  const dialog = document.querySelector("dialog[open]"), composer = document.getElementById("composer");
  const place = dialog || composer, box = dialog?.querySelector("[name=reason]") || document.getElementById("text");
  const at = document.activeElement, texts = (one) => [...document.querySelectorAll(one)].map((e) => e.textContent.replace(/\s+/g, " ").trim());
  return {
    ticket: Number((location.pathname.match(/ticket\/(\d+)\/(change|write)/) || [])[1] || 0),
    chosen: document.querySelector(".desk-names:not([hidden]) [aria-selected=true] p")?.textContent || "",
    does: document.querySelector(".desk-names:not([hidden]) [aria-selected=true] span")?.textContent || "",
    text: box?.value.trim() || "", typing: at === box && Boolean(box),
    to: dialog ? dialog.id.replace("move-", "") : document.getElementById("to")?.value || "",
    code: place?.querySelector("[data-codes]:enabled :checked")?.value || "",
    note: !dialog && Boolean(document.querySelector(".desk-as-note")),
    says: document.getElementById("aim-hint")?.textContent || "",
    thread: texts("#thread .desk-agent"), hint: document.getElementById("macro-hint")?.textContent || "",
    asks: Boolean(at?.closest("[data-codes]")), focus: at?.id || at?.name || "",
    waits: texts("#desk-waits [data-left] strong"), held: texts("#desk-waits .desk-waits-held"),
    bar: texts("#desk-waits .desk-waits-one"), refusal: texts(".desk-refusal, .errorlist").join(" "),
    offline: Boolean(document.querySelector(".desk-offline")), signedOut: location.pathname.includes("/login/"),
  };
}
