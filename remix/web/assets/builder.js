// The builder: what is chosen here decides which other choices there are, so the page is asked for again.
document.addEventListener("change", (changed) => {
  const field = changed.target;
  const form = field.form;
  if (form && "live" in form.dataset && form.elements.namedItem("query") && ["query", "set", "add", "on", "scale"].includes(field.name)) {
    form.requestSubmit();
  }
});
