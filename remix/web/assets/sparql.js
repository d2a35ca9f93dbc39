// The page of SPARQL: an editor in the place of its field, queries that can be stopped, and a list of those that were
// asked in this browser. Without it the form sends the query, and the browser's own button stops it.
(() => {
  const field = document.querySelector("textarea[name=query]");
  if (!field) return;
  const form = field.form;
  let editor, running;

  const write = (query) => {
    field.value = query;
    if (editor) editor.write(query);
  };

  // What was asked, in this browser alone: as addresses, the newest first.
  const KEPT = "remix.queries", MOST = 30, LONGEST = 10000;
  const asked = Object.assign(document.createElement("details"), { className: "asked" });
  const read = () => {
    try {
      const kept = JSON.parse(localStorage.getItem(KEPT));
      return Array.isArray(kept) ? kept.filter((one) => typeof one?.query === "string") : [];
    } catch {
      return [];
    }
  };
  const keep = (queries) => {
    try {
      localStorage.setItem(KEPT, JSON.stringify(queries.slice(0, MOST)));
    } catch { /* a browser that keeps nothing has no list */ }
    list();
  };
  const remember = (query) => {
    const trimmed = query.trim();
    if (!trimmed || trimmed.length > LONGEST) return;
    keep([{ query: trimmed, at: new Date().toISOString() }, ...read().filter((one) => one.query !== trimmed)]);
  };
  const list = () => {
    const queries = read();
    const made = (name, with_, ...parts) => {
      const one = Object.assign(document.createElement(name), with_);
      one.append(...parts);
      return one;
    };
    const rows = queries.map(({ query, at }) => {
      const lines = query.split("\n").filter((line) => !/^\s*(#|prefix\b|$)/i.test(line));
      const shown = lines.join(" ").replace(/\s+/g, " ").slice(0, 120) || query.slice(0, 120);
      const when = new Date(at);
      const told = isNaN(when) ? "" : made("small", {}, when.toLocaleString());
      return made("li", {}, made("a", { href: "/query?" + new URLSearchParams({ query }) }, shown), " ", told);
    });
    const clear = made("button", { type: "button" }, "Clear this list");
    clear.addEventListener("click", () => { keep([]); asked.querySelector("summary")?.focus(); });
    asked.replaceChildren(made("summary", {}, `Asked in this browser (${queries.length})`));
    asked.append(...(rows.length ? [made("ol", {}, ...rows), clear] : [made("p", {}, "Nothing yet.")]));
  };

  // A query is asked by the page itself, so that it can be stopped: the server ends what no client waits for.
  const clock = Object.assign(document.createElement("span"), { hidden: true });
  clock.setAttribute("aria-hidden", "true");
  const stop = Object.assign(document.createElement("button"), { type: "button", textContent: "Stop", hidden: true });
  const said = document.createElement("output");
  const WITHOUT = "The query has no answer:";
  const SOON = 300, LONG = 2, AGAIN = 10;
  stop.addEventListener("click", () => running?.abort());

  const ask = async (place, { own = false, back = false } = {}) => {
    running?.abort();
    const here = (running = new AbortController());
    const begun = Date.now();
    const seconds = () => Math.floor((Date.now() - begun) / 1000);
    const most = form.elements.timeout?.value;
    const show = (on) => {
      stop.hidden = clock.hidden = !on;
      // What a screen reader hears while the query runs the clock shows.
      said.classList.toggle("unseen", on);
      document.body.classList.toggle("asking", on);
    };
    const tell = () => {
      const passed = seconds();
      clock.textContent = `${passed} s${most ? ` of at most ${most} s` : ""}`;
      if (passed === LONG || (passed && passed % AGAIN === 0)) said.textContent = `The query has run for ${passed} seconds.`;
    };
    const wasFocused = document.activeElement === stop;
    said.textContent = "";
    // What was wrong with another query is not said of this one.
    document.querySelectorAll("main .note").forEach((note) => { if (note.textContent.trim().startsWith(WITHOUT)) note.remove(); });
    editor?.mark();
    tell();
    const late = setTimeout(show, SOON, true), ticking = setInterval(tell, 1000);
    try {
      const answer = await fetch(place, { signal: here.signal });
      const body = await answer.text();
      if (!(answer.headers.get("Content-Type") || "").startsWith("text/html")) throw new Error(body);
      const page = new DOMParser().parseFromString(body, "text/html");
      const twin = page.querySelector("form:has(textarea[name=query])");
      if (!twin) return location.assign(place);
      if (!own) {
        write(twin.querySelector("textarea").value);
        if (twin.elements.timeout) form.elements.timeout.value = twin.elements.timeout.value;
      }
      takeOver(form, page, twin);
      if (!back) history.pushState(null, "", place);
      // A page with what is wrong has another status: it is no answer.
      said.textContent = answer.ok ? `Answered after ${((Date.now() - begun) / 1000).toFixed(1)} seconds.` : "No answer.";
      mark();
    } catch (error) {
      if (running !== here) return; // another query has taken its place
      said.textContent = error.name === "AbortError" ? `Stopped after ${seconds()} seconds.` : `No answer: ${error.message}`;
    } finally {
      clearTimeout(late);
      clearInterval(ticking);
      if (running === here) {
        const focused = document.activeElement === stop || wasFocused;
        running = undefined;
        show(false);
        if (focused && editor) editor.focus();
      }
    }
  };

  document.addEventListener("submit", (sent) => {
    if (sent.target !== form) return;
    sent.preventDefault();
    remember(field.value);
    ask(addressOf(form), { own: true });
  });
  document.addEventListener("click", (pressed) => {
    const link = pressed.target.closest("main aside td a, .asked a");
    if (!link || pressed.button || pressed.ctrlKey || pressed.metaKey || pressed.shiftKey) return;
    pressed.preventDefault();
    const place = link.getAttribute("href");
    const query = new URLSearchParams(place.split("?")[1]).get("query");
    if (query) {
      write(query);
      remember(query);
    }
    ask(place);
    form.scrollIntoView({ block: "nearest" });
  });
  addEventListener("popstate", () => ask(location.pathname + location.search, { back: true }));

  // Where the query does not parse the answer says line and column. The server's parser often says a place behind the
  // word that is wrong, which the editor's finds: then the sentence says that place, at which the mark stands.
  const VAGUE = "the query does not parse here";
  const mark = () => {
    const told = [...document.querySelectorAll("main .note")]
      .map((note) => [note, note.textContent.trim().match(/^(The query has no answer: the query:)(\d+):(\d+): (.*)/s)])
      .find(([, found]) => found);
    if (!editor) return;
    if (!told) return editor.mark();
    const [note, [, begin, line, column, message]] = told;
    const found = editor.mark({ line: Number(line), column: Number(column), message, vague: message.startsWith(VAGUE) });
    if (found) note.textContent = `${begin}${found.line}:${found.column}: ${VAGUE}${found.word ? `: '${found.word}'` : ", where it ends"}`;
  };

  const words = (names) => names.trim().split(/\s+/);
  const KEYWORDS = words(`ASK BASE BIND CONSTRUCT DESCRIBE DISTINCT EXISTS FILTER FROM GRAPH GROUP HAVING LIMIT MINUS NAMED NOT
    OFFSET OPTIONAL ORDER PREFIX REDUCED SELECT SERVICE UNDEF UNION VALUES WHERE`).concat(["GROUP BY", "ORDER BY", "NOT EXISTS", "NOT IN"]);
  const FUNCTIONS = words(`ABS AVG BNODE BOUND CEIL COALESCE CONCAT CONTAINS COUNT DATATYPE DAY ENCODE_FOR_URI FLOOR GROUP_CONCAT
    HOURS IF IRI isBLANK isIRI isLITERAL isNUMERIC LANG LANGMATCHES LCASE MAX MD5 MIN MINUTES MONTH NOW RAND REGEX REPLACE ROUND
    SAMPLE SECONDS SHA1 SHA256 SHA384 SHA512 STR STRAFTER STRBEFORE STRDT STRENDS STRLANG STRLEN STRSTARTS STRUUID SUBSTR SUM
    sameTerm TIMEZONE TZ UCASE URI UUID YEAR`);
  const LONGEST_MEANING = 90;

  const mount = async (cm, known) => {
    const option = (label, type, detail, boost = 0) => {
      const whole = detail.length <= LONGEST_MEANING;
      const short = whole ? detail : detail.slice(0, LONGEST_MEANING).replace(/\s\S*$/, " …");
      return { label, type, detail: short, boost, ...(whole ? {} : { info: detail }) };
    };
    const often = (used) => (used ? Math.min(20, 4 + Math.log2(used)) : 0);
    const terms = known.terms.map(([term, kind, meaning, used]) => option(term, kind, meaning, often(used)));
    const prefixes = Object.entries(known.prefixes).map(([name, iri]) => option(`${name}:`, "namespace", iri, 5));
    const plain = [...KEYWORDS.map((one) => option(one, "keyword", "", -5)), ...FUNCTIONS.map((one) => option(one, "function", "", -6))];
    const inBrackets = terms.filter((one) => one.label.startsWith("<"));
    const named = terms.filter((one) => !one.label.startsWith("<"));
    const iris = [
      ...Object.entries(known.graphs).map(([iri, meaning]) => option(`<${iri}>`, "graph", meaning, 10)),
      ...inBrackets,
      ...Object.entries(known.prefixes).map(([name, iri]) => option(`<${iri}>`, "namespace", `the namespace of ${name}:`)),
    ];
    // A namespace that the query calls by another prefix is completed by that.
    const aliases = (query) => {
      const own = [...query.matchAll(/\bprefix\s+([\w-]*):\s*<([^<>\s]*)>/gi)];
      return own.flatMap(([, name, iri]) => {
        const usual = Object.keys(known.prefixes).filter((one) => one !== name && known.prefixes[one] === iri);
        if (!usual.length || Object.hasOwn(known.prefixes, name)) return [];
        return named.filter((one) => usual.some((prefix) => one.label.startsWith(`${prefix}:`)))
          .map((one) => ({ ...one, label: name + one.label.slice(one.label.indexOf(":")), boost: one.boost + 5 }));
      });
    };

    const complete = (context) => {
      const { state, pos, explicit } = context;
      const query = state.doc.toString();
      if (/^(Comment|String)$/.test(cm.syntaxTree(state).resolveInner(pos, -1).name)) return null;
      let word = context.matchBefore(/[?$]\w*/);
      if (word) {
        const others = query.slice(0, word.from) + " " + query.slice(pos);
        const names = [...new Set([...others.matchAll(/[?$](\w+)/g)].map((found) => found[1]))];
        return { from: word.from + 1, options: names.map((one) => option(one, "variable", "")), validFor: /^\w*$/ };
      }
      word = context.matchBefore(/<[^<>\s"]*/);
      if (word) return word.text.length > 1 || explicit ? { from: word.from, options: iris, validFor: /^<[^<>\s"]*>?$/ } : null;
      word = context.matchBefore(/\bprefix\s+[\w-]*/i);
      if (word) {
        const declared = Object.entries(known.prefixes).map(([name, iri]) => ({ ...option(`${name}:`, "namespace", iri), apply: `${name}: <${iri}>\n` }));
        return { from: word.from + word.text.match(/^\w+\s+/)[0].length, options: declared, validFor: /^[\w-]*$/ };
      }
      word = context.matchBefore(/(?:[A-Za-z][\w-]*)?:[\w.-]*|[A-Za-z]\w*/);
      if (!explicit && (!word || (word.text.length < 2 && !word.text.includes(":")))) return null;
      const from = word ? word.from : pos;
      const ahead = query.slice(0, from);
      const wanted = /\^\^$/.test(ahead) ? "datatype" : /(?:^|[\s;,])a\s+$/.test(ahead) ? "class" : "";
      const options = [...aliases(query), ...named].map((one) => (one.type === wanted ? { ...one, boost: one.boost + 40 } : one));
      if (word?.text.includes(":")) return { from, options, validFor: /^[\w-]*:[\w.-]*$/ };
      return { from, options: [...options, ...prefixes, ...plain], validFor: /^\w*$/ };
    };

    // A known prefix that is used is declared with the change that uses it, so that both are undone together.
    const declare = cm.EditorState.transactionFilter.of((change) => {
      if (!change.docChanged || !change.isUserEvent("input") || change.isUserEvent("input.type.compose")) return change;
      const made = vocabulary.missing(change.newDoc.toString(), known.prefixes);
      return made.text ? [change, { changes: { from: made.at, insert: made.text }, sequential: true }] : change;
    });

    const setWrong = cm.StateEffect.define();
    const wrong = cm.StateField.define({
      create: () => cm.Decoration.none,
      update(marks, change) {
        const set = change.effects.find((one) => one.is(setWrong));
        if (!set) return change.docChanged ? cm.Decoration.none : marks;
        if (!set.value) return cm.Decoration.none;
        const { line, from, to, message } = set.value;
        const whole = cm.Decoration.line({ class: "wrong-line", attributes: { title: message } });
        const place = cm.Decoration.mark({ class: "wrong", attributes: { title: message } });
        return cm.Decoration.set([whole.range(line.from), ...(to > from ? [place.range(from, to)] : [])]);
      },
      provide: (marks) => cm.EditorView.decorations.from(marks),
    });

    const { tags } = cm;
    const language = cm.SparqlLanguage.configure({
      props: [
        cm.styleTags({ "Pname_ln Pname_ns": tags.namespace, A_predicate: tags.keyword, Langtag: tags.string }),
        cm.indentNodeProp.add({ GroupGraphPattern: cm.delimitedIndent({ closing: "}", align: false }) }),
      ],
    });
    const colours = cm.HighlightStyle.define([
      { tag: tags.keyword, color: "var(--keyword)", fontWeight: "bold" },
      { tag: tags.variableName, color: "var(--variable)" },
      { tag: [tags.namespace, tags.url, tags.typeName], color: "var(--name)" },
      { tag: [tags.string, tags.number, tags.bool], color: "var(--string)" },
      { tag: tags.comment, color: "var(--comment)", fontStyle: "italic" },
    ]);
    const looks = cm.EditorView.theme({
      "&": { color: "var(--ink)", fontSize: ".9rem" },
      "&.cm-focused": { outline: "none" },
      ".cm-scroller": { fontFamily: "ui-monospace, monospace", lineHeight: "1.4", maxHeight: "60vh" },
      ".cm-content, .cm-gutter": { minHeight: "17rem" },
      ".cm-content": { caretColor: "var(--ink)" },
      ".cm-content:focus-visible": { outline: "3px solid var(--link)", outlineOffset: "-3px" },
      ".cm-gutters": { background: "var(--soft)", color: "var(--comment)", borderRight: "1px solid var(--line)" },
      ".cm-activeLine, .cm-activeLineGutter": { background: "color-mix(in srgb, var(--link) 7%, transparent)" },
      "&.cm-focused .cm-matchingBracket": { background: "var(--mention)" },
      ".wrong-line": { background: "color-mix(in srgb, var(--wrong) 14%, transparent)" },
      ".wrong": { textDecoration: "underline wavy var(--wrong)", textUnderlineOffset: "3px" },
      ".cm-tooltip": { background: "var(--paper)", color: "var(--ink)", border: "1px solid var(--line)", borderRadius: ".3rem" },
      ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "ui-monospace, monospace", maxHeight: "16rem", maxWidth: "min(44rem, 90vw)" },
      ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: ".15rem .4rem" },
      ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": { background: "var(--mention)", color: "var(--ink)" },
      ".cm-completionDetail": { fontFamily: "system-ui, sans-serif", fontStyle: "normal", color: "inherit", marginLeft: ".8em" },
      ".cm-completionInfo": { maxWidth: "22rem" },
    });

    // In a shadow tree the editor's styles are style sheets of the tree, which the content security policy allows as it is.
    const host = Object.assign(document.createElement("div"), { className: "editor" });
    const root = host.attachShadow({ mode: "open" });
    field.closest("label").after(host);
    const run = () => { form.requestSubmit(); return true; };
    const view = new cm.EditorView({
      parent: root,
      root,
      doc: field.value,
      extensions: [
        cm.keymap.of([{ key: "Mod-Enter", run }, { key: "Tab", run: cm.acceptCompletion }]),
        cm.lineNumbers(),
        cm.highlightSpecialChars(),
        cm.highlightActiveLine(),
        cm.history(),
        cm.bracketMatching(),
        cm.closeBrackets(),
        cm.autocompletion({ override: [complete], icons: false, maxRenderedOptions: 60 }),
        cm.keymap.of([...cm.closeBracketsKeymap, ...cm.completionKeymap, ...cm.historyKeymap, ...cm.defaultKeymap]),
        language,
        language.data.of({ commentTokens: { line: "#" } }),
        cm.syntaxHighlighting(colours),
        cm.EditorView.lineWrapping,
        cm.EditorView.contentAttributes.of({ "aria-label": "query", tabindex: "0" }),
        cm.EditorView.updateListener.of((change) => { if (change.docChanged) field.value = change.state.doc.toString(); }),
        declare,
        wrong,
        looks,
      ],
    });
    const hadFocus = document.activeElement === field;
    field.hidden = true;
    if (hadFocus) view.focus();
    field.closest("label").addEventListener("click", () => view.focus());
    editor = {
      write: (query) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: query } }),
      focus: () => view.focus(),
      // Marks a place, and returns that of the word that is wrong where this is another.
      mark: (place) => {
        const { doc } = view.state;
        if (!place) return view.dispatch({ effects: setWrong.of(null) });
        // A query that ends too early is wrong behind its last line, of which the end is the nearest place.
        const beyond = place.line > doc.lines;
        const told = doc.line(Math.min(place.line, doc.lines));
        const said = beyond ? told.to : Math.min(told.from + [...told.text].slice(0, place.column - 1).join("").length, told.to);
        let from = said, found;
        if (place.vague) cm.ensureSyntaxTree(view.state, doc.length, 500)?.iterate({
          enter: (node) => { if (node.type.isError) found ??= node.from; return found === undefined; },
        });
        if (found !== undefined) from = found + view.state.sliceDoc(found).match(/^\s*/)[0].length;
        from = Math.min(from, doc.length);
        const line = doc.lineAt(from);
        const word = view.state.sliceDoc(from, line.to).match(/^(?:<[^<>\s]*|"[^"]*"?|'[^']*'?|[\w?$:]+|.)/u);
        const to = from + (word ? word[0].length : 0);
        view.dispatch({ effects: setWrong.of({ line, from, to, message: place.message }), selection: { anchor: from }, scrollIntoView: true });
        if (!beyond && (from === said || to === from)) return undefined;
        const column = [...line.text.slice(0, from - line.from)].length + 1;
        return { line: line.number, column, word: view.state.sliceDoc(from, to) };
      },
    };
    mark();
  };

  form.querySelector("button").after(stop, clock, said);
  form.append(asked);
  const query = new URLSearchParams(location.search).get("query");
  if (query) remember(query);
  list();
  // Where the editor does not come the plain field stays.
  Promise.all([import("/codemirror.js"), vocabulary.learn()]).then(([cm, known]) => mount(cm, known)).catch((error) => console.error(error));
  field.addEventListener("keydown", (pressed) => {
    if ((pressed.ctrlKey || pressed.metaKey) && pressed.key === "Enter") form.requestSubmit();
  });
})();
