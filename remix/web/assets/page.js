"use strict";
// What every page and report has: forms that show what they lead to while they change, and keys from text to text, or
// in a single text from mention to mention; Enter opens the text, the arrow keys lead to the page before or after.
// Each works without this: the form has a button, the texts stand below each other.

const each = (selector, work) => document.querySelectorAll(selector).forEach(work);

const addressOf = (form) => {
  const together = new Map();
  for (const [name, value] of new FormData(form)) {
    if (value !== "") together.set(name, together.has(name) ? together.get(name) + "," + value : value);
  }
  const [path, place] = form.getAttribute("action").split("#");
  return path + "?" + new URLSearchParams([...together]) + (place ? "#" + place : "");
};

// A slider and the number beside it are one value, which the number sends.
each("input[type=range]", (slider) => {
  const number = slider.nextElementSibling;
  slider.addEventListener("input", () => { number.value = slider.value; });
  number.addEventListener("input", () => { slider.value = number.value; });
});

// What is wrong with a value stands beside its field, which stays.
const takeOverFaults = (form, twin) => {
  form.querySelectorAll(".fault").forEach((old) => old.remove());
  form.querySelectorAll("[aria-invalid]").forEach((field) => {
    field.removeAttribute("aria-invalid");
    field.removeAttribute("aria-describedby");
  });
  twin.querySelectorAll("[aria-invalid]").forEach((wrong) => {
    const field = form.elements.namedItem(wrong.name);
    if (!(field instanceof Element)) return;
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", wrong.getAttribute("aria-describedby"));
    field.closest("label").append(wrong.closest("label").querySelector(".fault"));
  });
};

// A form that is live shows what it leads to while it changes: all but the form comes from the new page, and what was
// there before is dimmed meanwhile, so that old numbers never stand beside new choices.
const takeOver = (form, page, twin = page.querySelector("form[data-live]")) => {
  const main = document.querySelector("main");
  if (twin) takeOverFaults(form, twin);
  if (!twin) {
    main.replaceChildren(...page.querySelector("main").childNodes);
    return;
  }
  const here = form.closest("main > div"), there = twin.closest("main > div");
  for (const old of [...form.parentNode.childNodes].slice([...form.parentNode.childNodes].indexOf(form) + 1)) old.remove();
  form.parentNode.append(...[...twin.parentNode.childNodes].slice([...twin.parentNode.childNodes].indexOf(twin) + 1));
  here.querySelector("aside")?.remove();
  const beside = there.querySelector("aside");
  here.className = there.className;
  if (beside) here.append(beside);
  document.querySelectorAll("main > .dropped").forEach((old) => old.remove());
  here.before(...page.querySelectorAll("main > .dropped"));
  document.querySelector("footer").replaceChildren(...page.querySelector("footer").childNodes);
};

each("form[data-live]", (form) => {
  let waiting, running;
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    document.body.classList.add("stale");
    waiting = setTimeout(async () => {
      if (running) running.abort();
      running = new AbortController();
      const place = addressOf(form);
      try {
        const answer = await fetch(place, { signal: running.signal });
        takeOver(form, new DOMParser().parseFromString(await answer.text(), "text/html"));
        go(place, { instead: true });
        document.body.classList.remove("stale");
      } catch (error) {
        if (error.name !== "AbortError") throw error;
      }
    }, 150);
  });
});

// A page that asks for itself again does not while somebody chooses on it: what was chosen, opened or typed would be lost.
// The note with its link to ask again stays.
let asksAgain = document.querySelector("main[data-refresh]") !== null, asking;
const askAgain = () => { if (asksAgain) asking = setTimeout(() => location.reload(), 2000); };
if (asksAgain) {
  if (location.hash) askAgain(); // to a place within it the browser goes without asking
  const wait = (event) => {
    if (!event.target.closest("form, .tools")) return;
    asksAgain = false;
    clearTimeout(asking);
    window.stop();
  };
  for (const kind of ["input", "pointerdown", "keydown"]) document.addEventListener(kind, wait, { capture: true });
}

// A table is sorted, filtered and cut to columns in its place; without this each is an address of its own. All tables of
// the page and what leads to their data are then those of the new address: each link keeps what was chosen before.
const exchange = (section, found) => {
  const [before, after] = [section, found].map((one) => one.querySelector(".wide"));
  const at = before ? [before.scrollLeft, before.scrollTop] : [0, 0];
  const folded = [...found.querySelectorAll("details")];
  section.querySelectorAll("details").forEach((one, nth) => { if (folded[nth]) folded[nth].open = one.open; });
  section.replaceWith(found);
  if (after) [after.scrollLeft, after.scrollTop] = at;
};

// Each order, choice of columns and filter is a step back in the browser; a filter that is typed on is one.
let placeShown = location.pathname + location.search;
const go = (place, { instead = false } = {}) => {
  const next = new URL(place, location.href);
  history[instead || next.pathname + next.search === placeShown ? "replaceState" : "pushState"](null, "", place);
  placeShown = location.pathname + location.search;
};

let renewals = 0, typedOn;
const renew = async (section, place, { typing = false, back = false } = {}) => {
  const nth = ++renewals;
  const answer = await fetch(place);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (nth !== renewals) return; // what was asked for later is there, or comes
  const twinOf = (one) => page.querySelector(`section.rows[data-update="${CSS.escape(one.dataset.update)}"]`);
  const found = twinOf(section);
  if (!answer.ok || !found || !section.isConnected) return back ? location.reload() : location.assign(place);
  const active = document.activeElement;
  const column = [...section.querySelectorAll("th a")].indexOf(active);
  // In the field of the filter somebody may be typing on.
  const field = !back && active.matches(".filter input") && section.contains(active) && found.querySelector(".filter label input");
  if (field) field.replaceWith(active);
  for (const other of document.querySelectorAll("section.rows[data-update]")) {
    const twin = twinOf(other);
    if (twin) exchange(other, twin);
  }
  document.querySelector("footer")?.replaceChildren(...(page.querySelector("footer")?.childNodes ?? []));
  // What else leads to the same page keeps the order and columns, too.
  for (const also of ["form .kept", "nav.facets", "p.note", "h1 + p:has([rel])", "link[rel=prev], link[rel=next]"]) {
    const [olds, twins] = [document, page].map((one) => one.querySelectorAll(also));
    if (olds.length === twins.length) olds.forEach((old, nth) => old.replaceWith(twins[nth]));
  }
  if (field) active.focus({ preventScroll: true });
  else if (column >= 0) found.querySelectorAll("th a")[column]?.focus({ preventScroll: true });
  if (!back) go(place, { instead: typing && typedOn === section.dataset.update });
  typedOn = typing ? section.dataset.update : undefined;
};

document.addEventListener("click", (pressed) => {
  const link = pressed.target.closest("section.rows th a");
  if (!link || pressed.button || pressed.ctrlKey || pressed.metaKey || pressed.shiftKey) return;
  pressed.preventDefault();
  // The browser would ask again for the address that the page came from.
  clearTimeout(asking);
  if (asksAgain) window.stop();
  renew(link.closest("section.rows"), link.getAttribute("href")).then(askAgain);
});

document.addEventListener("submit", (sent) => {
  const form = sent.target.closest("section.rows .tools form");
  if (!form) return;
  sent.preventDefault();
  clearTimeout(typed);
  renew(form.closest("section.rows"), addressOf(form));
});

let typed;

document.addEventListener("input", (event) => {
  const form = event.target.closest("section.rows form.filter");
  if (!form) return;
  clearTimeout(typed);
  typed = setTimeout(() => renew(form.closest("section.rows"), addressOf(form), { typing: true }), 250);
});

// Back and forward within the page. What a live form has changed meanwhile is made whole; queries have their own way.
addEventListener("popstate", () => {
  const place = location.pathname + location.search;
  if (place === placeShown || document.querySelector("form:has(textarea[name=query])")) return;
  clearTimeout(typed);
  placeShown = place;
  const section = document.querySelector("section.rows[data-update]");
  if (!section || document.querySelector("form[data-live]")) location.reload();
  else renew(section, place, { back: true });
});

document.addEventListener("keydown", (pressed) => {
  if (pressed.ctrlKey || pressed.metaKey || pressed.altKey) return;
  if (pressed.target.closest("input, select, textarea")) return;
  const way = { ArrowLeft: "prev", ArrowRight: "next" }[pressed.key];
  const neighbour = way && !pressed.target.closest(".wide, pre") && document.querySelector(`a[rel=${way}]`);
  if (neighbour) neighbour.click();
  // A text in focus is opened as its heading is.
  if (pressed.key === "Enter" && pressed.target.matches("article")) pressed.target.querySelector("h2 a")?.click();
  const step = { n: 1, p: -1 }[pressed.key];
  const articles = [...document.querySelectorAll("article:not([hidden])")].filter((one) => one.offsetParent);
  // One text, though two systems stand beside each other in it, is led through from mention to mention.
  const mentions = [...document.querySelectorAll(".paired article:first-child mark a, article:only-of-type mark a")];
  const one = articles.length === 1 || document.querySelector(".paired");
  const texts = one && mentions.length ? mentions : articles;
  if (!step || !texts.length) return;
  const at = texts.indexOf(document.querySelector("article.here, a.here") || document.querySelector("mark.chosen a, article:target"));
  // Behind the last text comes the first of the next page.
  const beyond = at + step >= texts.length && texts === articles && document.querySelector("link[rel=next]");
  if (beyond) return location.assign(beyond.href);
  const next = texts[Math.min(texts.length - 1, Math.max(0, at + step))];
  texts.forEach((text) => text.classList.toggle("here", text === next));
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "center" });
});
