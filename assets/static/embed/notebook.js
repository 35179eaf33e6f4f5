// Bench in a notebook (seqviz/export/notebook_widget.py): controls, figure, texts. `element`,
// `Controls` and `Plotly` precede this in the same module, because a notebook has no server to load
// them from.
//
// The kernel has `shown` { controls, figure, readouts, words, problem, number }; the browser has
// `asked` { values, number }. One request is pending at a time, with the latest values only.

function render({ model, el }) {
  const host = createElement("div", el, { className: "seqviz-bench" });
  // A saved notebook has a static image below: here the bench itself is rendered.
  const hideStill = createElement("style", document.head, { textContent: `.${model.get("mark")} { display: none; }` });
  const above = createElement("div", host, { className: "above" });
  const chart = createElement("div", createElement("div", host, { className: "main" }));
  const side = createElement("div", host, { className: "side" });
  const front = createElement("div", side, { className: "front" });
  const more = createElement("details", side);
  createElement("summary", more, { textContent: model.get("shown").more });
  const behind = createElement("div", more, { className: "front" });
  const readouts = createElement("dl", host, { className: "readouts" });
  const words = createElement("div", host, { className: "words" });
  words.setAttribute("aria-live", "polite");
  let values = { ...model.get("asked").values }, isPending = false, needsRequest = false;

  function request() {
    needsRequest = isPending;
    if (isPending) return;
    isPending = true;
    model.set("asked", { values: { ...values }, number: model.get("shown").number + 1 });
    model.save_changes();
  }

  function setValue(name, text) {
    values[name] = text;
    request();
  }

  const controls = new Controls({ above, front, behind, more }, { onInput: setValue, onChange: setValue, onRelease() {}, onCommit() {} });

  function show() {
    const { controls: controlList, figure, readouts: readoutsHtml, words: sentences, problem } = model.get("shown");
    controls.update(controlList);
    readouts.innerHTML = problem ? "" : readoutsHtml;
    words.innerHTML = problem || sentences;
    if (figure) {
      const { data, layout } = JSON.parse(figure);
      Plotly.react(chart, data, { ...layout, autosize: true }, { displayModeBar: false, responsive: true });
      chart.setAttribute("role", "img");
      chart.setAttribute("aria-label", layout.meta?.alt ?? "");
    }
    isPending = false;
    if (needsRequest) request();
  }

  model.on("change:shown", show);
  show();
  return () => {
    model.off("change:shown", show);
    controls.update([]);
    hideStill.remove();
    Plotly.purge(chart);
  };
}

export default { render };
