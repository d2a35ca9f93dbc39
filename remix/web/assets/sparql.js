// The editor of SPARQL: prefixes that come by themselves, completion by a list, Ctrl+Enter, and a query that can be ended.
// Without it the form sends the query, and the browser's own button stops it.
(() => {
  const EDITOR = "textarea[name=query], textarea[name=sparql]";
  const WORD = /(?:[A-Za-z][\w-]*:)?[\w-]*$/;
  const list = Object.assign(document.createElement("ul"), { id: "completion", hidden: true });
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Terms that begin so");
  const said = Object.assign(document.createElement("p"), { className: "said" });
  said.setAttribute("role", "status");
  let vocabulary, editor, chosen = -1;

  const learn = () => (vocabulary ??= fetch("/query.vocabulary.json").then((answer) => answer.json()));

  const enter = (area) => {
    if (editor === area && list.isConnected) return;
    editor = area;
    area.setAttribute("aria-autocomplete", "list");
    area.setAttribute("aria-controls", list.id);
    area.closest("label").after(list, said);
    learn();
  };

  const close = () => {
    list.hidden = true;
    list.replaceChildren();
    chosen = -1;
    said.textContent = "";
    if (editor) editor.removeAttribute("aria-activedescendant");
  };

  const choose = (number) => {
    const options = [...list.children];
    chosen = (number + options.length) % options.length;
    options.forEach((one, nth) => one.setAttribute("aria-selected", String(nth === chosen)));
    options[chosen].scrollIntoView({ block: "nearest" });
    editor.setAttribute("aria-activedescendant", options[chosen].id);
  };

  const before = () => editor.value.slice(0, editor.selectionStart);

  const complete = async (always) => {
    const known = await learn();
    if (!editor || document.activeElement !== editor) return;
    const word = before().match(WORD)[0];
    close();
    if (/[?$<]$/.test(before().slice(0, before().length - word.length)) || (word.length < 2 && !always)) return;
    const prefixes = Object.keys(known.prefixes).map((one) => [one + ":", known.prefixes[one]]);
    const every = word.includes(":") ? Object.entries(known.terms) : [...prefixes, ...Object.entries(known.terms)];
    const small = word.toLowerCase();
    const local = (term) => term.slice(term.indexOf(":") + 1).toLowerCase();
    const fits = ([term]) => term.toLowerCase().startsWith(small) || (!word.includes(":") && local(term).startsWith(small));
    const found = every.filter(fits).filter(([term]) => term !== word).slice(0, 12);
    found.forEach(([term, meaning], nth) => {
      const option = Object.assign(document.createElement("li"), { id: "completion-" + nth });
      option.setAttribute("role", "option");
      option.dataset.term = term;
      option.append(Object.assign(document.createElement("code"), { textContent: term }), " " + meaning);
      list.append(option);
    });
    list.hidden = !found.length;
    said.textContent = found.length ? found.length + " terms; arrow keys choose, Enter takes one, Esc closes" : "";
    if (found.length) choose(0);
  };

  const replace = (text, from, to) => {
    editor.setRangeText(text, from, to, "end");
    declare();
  };

  const take = (option) => {
    const text = before();
    replace(option.dataset.term, text.length - text.match(WORD)[0].length, text.length);
    close();
    editor.focus();
  };

  // A known prefix that is used and not declared is declared, after the comments at the beginning.
  const declare = async () => {
    const { prefixes } = await learn();
    const text = editor.value;
    const bare = text.replace(/<[^<>\s]*>|"[^"\n]*"|'[^'\n]*'|#.*$/gm, (part) => " ".repeat(part.length));
    const used = new Set([...bare.matchAll(/(?<![\w?$:-])([A-Za-z][\w-]*):(?=[A-Za-z_])/g)].map((found) => found[1]));
    const declared = new Set([...bare.matchAll(/\bprefix\s+([\w-]*):/gi)].map((found) => found[1]));
    const lines = [...used].filter((one) => prefixes[one] && !declared.has(one));
    if (!lines.length) return;
    const place = text.match(/^(?:\s*#.*\n)*/)[0].length;
    const made = lines.map((one) => `PREFIX ${one}: <${prefixes[one]}>\n`).join("");
    editor.setRangeText(made, place, place, "preserve");
  };

  document.addEventListener("focusin", (moved) => { if (moved.target.matches(EDITOR)) enter(moved.target); });
  document.addEventListener("focusout", (moved) => { if (moved.target === editor) close(); });
  document.addEventListener("input", (typed) => {
    if (!typed.target.matches(EDITOR)) return;
    enter(typed.target);
    declare().then(() => complete(false));
  });
  list.addEventListener("pointerdown", (pressed) => {
    const option = pressed.target.closest("li");
    pressed.preventDefault();
    if (option) take(option);
  });
  document.addEventListener("keydown", (pressed) => {
    if (!pressed.target.matches(EDITOR)) return;
    if ((pressed.ctrlKey || pressed.metaKey) && pressed.key === "Enter") {
      pressed.preventDefault();
      close();
      pressed.target.form.requestSubmit();
    } else if (pressed.ctrlKey && pressed.key === " ") {
      pressed.preventDefault();
      complete(true);
    } else if (!list.hidden) {
      const step = { ArrowDown: 1, ArrowUp: -1 }[pressed.key];
      if (step) choose(chosen + step);
      else if (pressed.key === "Enter" || pressed.key === "Tab") take(list.children[chosen]);
      else if (pressed.key === "Escape") close();
      else return;
      pressed.preventDefault();
    }
  });

  // A query is asked by the page itself, so that it can be ended: the server stops what no client waits for.
  let running;
  document.addEventListener("submit", async (sent) => {
    const form = sent.target;
    if (!form.querySelector("textarea[name=query]")) return;
    sent.preventDefault();
    if (running) running.abort();
    running = new AbortController();
    const { signal } = running;
    const place = addressOf(form);
    const begun = Date.now();
    const cancel = Object.assign(document.createElement("button"), { type: "button", textContent: "Cancel" });
    const told = document.createElement("output");
    form.querySelectorAll(".running").forEach((old) => old.remove());
    for (const part of [cancel, told]) part.className = "running";
    const tell = () => { told.textContent = `running for ${Math.round((Date.now() - begun) / 1000)} s`; };
    const clock = setInterval(tell, 1000);
    cancel.addEventListener("click", () => running.abort());
    form.append(cancel, told);
    tell();
    try {
      const answer = await fetch(place, { signal });
      const text = await answer.text();
      if (!(answer.headers.get("Content-Type") || "").startsWith("text/html")) throw new Error(text);
      const page = new DOMParser().parseFromString(text, "text/html");
      const main = page.querySelector("main");
      main.querySelector("form:has(textarea[name=query])").replaceWith(form);
      document.querySelector("main").replaceWith(main);
      document.querySelector("footer").replaceWith(page.querySelector("footer"));
      history.pushState(null, "", place);
      [cancel, told].forEach((part) => part.remove());
    } catch (error) {
      cancel.remove();
      told.textContent = error.name === "AbortError" ? "cancelled" : `no answer: ${error.message}`;
    } finally {
      clearInterval(clock);
    }
  });
  addEventListener("popstate", () => { if (document.querySelector("textarea[name=query]")) location.reload(); });
})();
