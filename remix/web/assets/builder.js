// The builder: what is chosen here decides which other choices there are, so the page is asked for again.
document.addEventListener("change", (changed) => {
  const field = changed.target;
  const form = field.form;
  // A field of the form is called `dataset`, so that `form.dataset` is that.
  if (form && form.hasAttribute("data-live") && form.elements.namedItem("query") && ["query", "set", "add", "on", "scale"].includes(field.name)) {
    form.requestSubmit();
  }
});
