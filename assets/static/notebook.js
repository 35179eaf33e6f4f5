// A bench in a notebook (seqviz/lessons/in_notebook.py): its controls, its figure, what it says.
// `Slider` and `Plotly` stand above this in the same module: a notebook has no server to ask.
//
// The kernel has `shown` { controls, figure, said, problem, number }; the browser has `asked`
// { values, number }. One question is under way at a time, and the latest values only are asked.

function made(tag, parent, properties = {}) {
  const one = Object.assign(document.createElement(tag), properties);
  parent.append(one);
  return one;
}

function labelled(control, host, tag, properties) {
  const label = made("label", host, { className: "plain", textContent: control.label });
  if (control.help) label.title = control.help;
  return made(tag, label, properties);
}

function choice(control, host, tell) {
  const list = labelled(control, host, "select", { multiple: control.many });
  for (const [value, text] of control.options)
    made("option", list, { value, textContent: text, selected: control.chosen.includes(value) });
  if (control.many) list.size = control.options.length;
  list.onchange = () => tell([...list.selectedOptions].map((o) => o.value).join("+") || "-");
}

function plain(control, host, tell) {
  const box = labelled(control, host, "input", { type: control.kind });
  if (control.kind === "checkbox") box.checked = control.value === "true";
  else box.value = control.value;
  box.onchange = () => tell(control.kind === "checkbox" ? String(box.checked) : box.value);
}

function render({ model, el }) {
  const host = made("div", el, { className: "seqviz-bench" });
  const chart = made("div", made("div", host, { className: "stage" }));
  const side = made("div", host, { className: "side" });
  const words = made("div", host, { className: "words" });
  words.setAttribute("aria-live", "polite");
  const sliders = new Map();
  let rare = null; // what hides behind "more"
  let wanted = { ...model.get("asked").values }, under = false, again = false;

  function ask() {
    again = under;
    if (under) return;
    under = true;
    model.set("asked", { values: { ...wanted }, number: model.get("shown").number + 1 });
    model.save_changes();
  }

  function beside(control) {
    if (!control.more) return side;
    if (!rare) made("summary", (rare = made("details", side)), { textContent: model.get("shown").more });
    return rare;
  }

  function place(control, fresh = false) {
    const tell = (text) => {
      wanted[control.name] = text;
      ask();
    };
    if (control.kind !== "slider") {
      const box = made("div", beside(control));
      return (control.kind === "choice" ? choice : plain)(control, box, tell);
    }
    const slider = sliders.get(control.name) ??
      new Slider(made("div", side, { className: "seqviz-slider" }), { input: tell, stop() {}, rest() {} });
    if (!side.contains(slider.host) || fresh) beside(control).append(slider.host);
    sliders.set(control.name, slider);
    if (document.activeElement !== slider.range) slider.set(control.options);
  }

  // Controls are made again only where others apply: a hand may be on one of them.
  function arrange(controls) {
    const names = controls.map(({ name }) => name).join();
    if (names === side.dataset.names) {
      for (const control of controls) if (control.kind === "slider") place(control);
      return;
    }
    side.dataset.names = names;
    const open = rare?.open;
    side.replaceChildren();
    rare = null;
    for (const control of controls) place(control, true);
    if (rare) side.append(rare);
    if (open && rare) rare.open = true;
  }

  function show() {
    const { controls, figure, said, problem } = model.get("shown");
    arrange(controls);
    words.replaceChildren();
    for (const [kind, text] of problem ? [["problem", problem]] : said) {
      const line = made("p", words, { className: kind });
      // **bold** and *italic* of our own sentences; nothing else of a text becomes markup
      text.split(/(\*\*[^*]+\*\*|\*[^*\s][^*]*\*)/).forEach((part, odd) => {
        if (odd % 2) made(part.startsWith("**") ? "b" : "i", line, { textContent: part.replaceAll("*", "") });
        else line.append(part);
      });
    }
    if (figure) {
      const { data, layout } = JSON.parse(figure);
      Plotly.react(chart, data, { ...layout, autosize: true }, { displayModeBar: false, responsive: true });
      chart.setAttribute("role", "img");
      chart.setAttribute("aria-label", layout.meta?.alt ?? "");
    }
    under = false;
    if (again) ask();
  }

  model.on("change:shown", show);
  show();
  return () => {
    model.off("change:shown", show);
    for (const slider of sliders.values()) slider.close();
    Plotly.purge(chart);
  };
}

export default { render };
