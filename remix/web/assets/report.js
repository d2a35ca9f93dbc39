// In a report, which has no server to ask, texts are chosen by what is said of them; without scripts all are shown.

each("main.report > section", (section) => {
  const texts = [...section.querySelectorAll("article[data-outcome]")];
  if (!texts.length) return;
  const form = document.createElement("form");
  const told = document.createElement("output");
  const choices = Object.keys(texts[0].dataset).map((name) => {
    const values = new Set(texts.flatMap((text) => text.dataset[name].split(" ")).filter(Boolean));
    const choice = document.createElement("select");
    choice.append(new Option("(any)", ""), ...[...values].sort().map((value) => new Option(value, value)));
    const label = document.createElement("label");
    label.append(name, choice);
    form.append(label);
    return [name, choice];
  });
  form.append(told);
  form.addEventListener("input", () => {
    for (const text of texts) {
      text.hidden = choices.some(([name, { value }]) => value && !text.dataset[name].split(" ").includes(value));
    }
    told.value = `${texts.filter((text) => !text.hidden).length} of ${texts.length} are shown`;
  });
  texts[0].before(form);
});
