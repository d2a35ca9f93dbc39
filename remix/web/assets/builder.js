// The builder: what is chosen here decides which other choices there are, so the page is asked for again. Keys that go
// through the values of a list choose each of them: then it is asked for by Enter, or when the list is left.
(() => {
  const KEPT = "remix builder focus";
  let byKey = false, waiting;
  const decides = (field) => field.form?.hasAttribute("data-live") && field.form.elements.namedItem("query")
    && ["query", "set", "add", "on", "scale"].includes(field.name); // a field is called `dataset`, so that `form.dataset` is that
  const ask = (field) => {
    waiting = undefined;
    sessionStorage.setItem(KEPT, field.name);
    field.form.requestSubmit();
  };
  document.addEventListener("pointerdown", () => { byKey = false; }, { capture: true });
  document.addEventListener("keydown", (pressed) => {
    byKey = true;
    if (pressed.key === "Enter" && waiting === pressed.target) {
      pressed.preventDefault();
      ask(waiting);
    }
  }, { capture: true });
  document.addEventListener("change", (changed) => {
    const field = changed.target;
    if (!decides(field)) return;
    if (byKey && field.matches("select")) waiting = field;
    else ask(field);
  });
  document.addEventListener("focusout", (left) => {
    if (waiting && waiting === left.target) ask(waiting);
  });
  const kept = sessionStorage.getItem(KEPT);
  sessionStorage.removeItem(KEPT);
  if (kept) document.querySelector(`form[data-live] [name="${CSS.escape(kept)}"]`)?.focus({ preventScroll: true });
})();
