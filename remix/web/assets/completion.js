// What a query can speak of, as the server tells it, and a list of it below a plain field, as the builder has one: arrow
// keys choose, Enter or Tab takes one, Esc closes. Prefixes come by themselves. Without it one types all of it.
const vocabulary = (() => {
  let known;
  const learn = () => (known ??= fetch("/query.vocabulary.json").then((answer) => answer.json()));
  const bare = (text) => text.replace(/<[^<>\s]*>|"[^"\n]*"|'[^'\n]*'|#.*$/gm, (part) => " ".repeat(part.length));

  // The lines that declare the known prefixes that a query uses and does not declare, and the place for them: after the
  // comments at its beginning.
  const missing = (text, prefixes) => {
    const used = [...bare(text).matchAll(/(?<![\w?$:-])([A-Za-z][\w-]*):(?=[A-Za-z_])/g)].map((found) => found[1]);
    const declared = new Set([...bare(text).matchAll(/\bprefix\s+([\w-]*):/gi)].map((found) => found[1]));
    const lines = [...new Set(used)].filter((one) => Object.hasOwn(prefixes, one) && !declared.has(one));
    const at = text.match(/^(?:\s*#.*\n)*/)[0].length;
    return { at, text: lines.map((one) => `PREFIX ${one}: <${prefixes[one]}>\n`).join("") };
  };
  return { learn, missing };
})();

(() => {
  const FIELD = "textarea[name=sparql]";
  const WORD = /(?:[A-Za-z][\w-]*:)?[\w-]*$/;
  const list = Object.assign(document.createElement("ul"), { id: "completion", hidden: true });
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Terms that begin so");
  const said = Object.assign(document.createElement("p"), { className: "said" });
  said.setAttribute("role", "status");
  let field, chosen = -1;

  const enter = (area) => {
    if (field === area && list.isConnected) return;
    field = area;
    area.setAttribute("aria-autocomplete", "list");
    area.setAttribute("aria-controls", list.id);
    area.closest("label").after(list, said);
    vocabulary.learn();
  };

  const close = () => {
    list.hidden = true;
    list.replaceChildren();
    chosen = -1;
    said.textContent = "";
    if (field) field.removeAttribute("aria-activedescendant");
  };

  const choose = (number) => {
    const options = [...list.children];
    chosen = (number + options.length) % options.length;
    options.forEach((one, nth) => one.setAttribute("aria-selected", String(nth === chosen)));
    options[chosen].scrollIntoView({ block: "nearest" });
    field.setAttribute("aria-activedescendant", options[chosen].id);
  };

  const before = () => field.value.slice(0, field.selectionStart);

  const complete = async (always) => {
    const known = await vocabulary.learn();
    if (!field || document.activeElement !== field) return;
    const word = before().match(WORD)[0];
    close();
    if (/[?$<]$/.test(before().slice(0, before().length - word.length)) || (word.length < 2 && !always)) return;
    const terms = known.terms.map(([term, , meaning]) => [term, meaning]);
    const every = word.includes(":") ? terms : [...Object.entries(known.prefixes).map(([name, iri]) => [`${name}:`, iri]), ...terms];
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

  const declare = async () => {
    const made = vocabulary.missing(field.value, (await vocabulary.learn()).prefixes);
    if (made.text) field.setRangeText(made.text, made.at, made.at, "preserve");
  };

  const take = (option) => {
    const text = before();
    field.setRangeText(option.dataset.term, text.length - text.match(WORD)[0].length, text.length, "end");
    declare();
    close();
    field.focus();
  };

  document.addEventListener("focusin", (moved) => { if (moved.target.matches(FIELD)) enter(moved.target); });
  document.addEventListener("focusout", (moved) => { if (moved.target === field) close(); });
  document.addEventListener("input", (typed) => {
    if (!typed.target.matches(FIELD)) return;
    enter(typed.target);
    declare().then(() => complete(false));
  });
  list.addEventListener("pointerdown", (pressed) => {
    const option = pressed.target.closest("li");
    pressed.preventDefault();
    if (option) take(option);
  });
  document.addEventListener("keydown", (pressed) => {
    if (!pressed.target.matches(FIELD)) return;
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
})();
