// Where the list stands beside the ticket, another ticket of it is shown without the whole page
// being loaded again. Everything here is a link, and leads there without this too.
// A script that works on the ticket begins anew at the event "desk:ticket".
"use strict";
(() => {
  const wide = matchMedia("(min-width: 90rem)");
  const find = (id) => document.getElementById(id);
  let asked;

  const inView = () => {
    const here = document.querySelector(".desk-beside [aria-current]");
    if (here) here.parentElement.parentElement.scrollTop = here.offsetTop - here.closest("ol").clientHeight / 3;
  };

  // Another ticket, or this one as it is after an answer, in the place of what is shown.
  function put(page) {
    const fresh = page.getElementById("ticket-page");
    if (!fresh) return false;
    document.dispatchEvent(new Event("desk:leave"));
    document.title = page.title;
    find("header-inner").querySelector("h1").replaceChildren(...page.querySelector("#header-inner h1").childNodes);
    document.querySelectorAll("[data-messages]").forEach((one) => one.remove());
    find("ticket-page").replaceWith(fresh);
    inView();
    document.dispatchEvent(new Event("desk:ticket"));
    fresh.querySelector("[autofocus]")?.focus();
    return true;
  }
  const parse = async (answer) => new DOMParser().parseFromString(await answer.text(), "text/html");
  window.deskShow = async (answer) => put(await parse(answer));

  async function show(wanted) {
    if (asked) asked.abort();
    asked = new AbortController();
    const { signal } = asked;
    try {
      const answer = await fetch(wanted, { signal });
      const page = await parse(answer);
      if (signal.aborted) return;
      if (!answer.ok || !page.getElementById("ticket-page")) { location.assign(wanted); return; }
      if (location.href !== answer.url) history.pushState(null, "", answer.url);
      shown = address();
      put(page);
    } catch (error) {
      if (error.name !== "AbortError") location.assign(wanted);
    }
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest("#walk-next, #walk-previous, .desk-beside a");
    if (!link || !wide.matches || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    show(link.href);
  });
  // A link within the page, as the one past the side bar, is an entry of the history too.
  const address = () => location.pathname + location.search;
  let shown = address();
  window.addEventListener("popstate", () => address() !== shown && location.reload());
  inView();
})();
