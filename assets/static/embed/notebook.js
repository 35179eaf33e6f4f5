// A bench in a notebook (seqviz/export/notebook_widget.py): its controls, its figure, what it says.
// `element`, `Controls` and `Plotly` stand above this in the same module: a notebook has no server to ask.
//
// The kernel has `shown` { controls, figure, said, problem, number }; the browser has `asked`
// { values, number }. One question is under way at a time, and the latest values only are asked.

function render({ model, el }) {
  const host = element("div", el, { className: "seqviz-bench" });
  // The picture that a saved notebook has below: here the bench itself is drawn.
  const hidden = element("style", document.head, { textContent: `.${model.get("mark")} { display: none; }` });
  const above = element("div", host, { className: "above" });
  const chart = element("div", element("div", host, { className: "stage" }));
  const side = element("div", host, { className: "side" });
  const front = element("div", side, { className: "front" });
  const more = element("details", side);
  element("summary", more, { textContent: model.get("shown").more });
  const behind = element("div", more, { className: "front" });
  const words = element("div", host, { className: "words" });
  words.setAttribute("aria-live", "polite");
  let wanted = { ...model.get("asked").values }, under = false, again = false;

  function ask() {
    again = under;
    if (under) return;
    under = true;
    model.set("asked", { values: { ...wanted }, number: model.get("shown").number + 1 });
    model.save_changes();
  }

  function tell(name, text) {
    wanted[name] = text;
    ask();
  }

  const controls = new Controls({ above, front, behind, more }, { move: tell, set: tell, stop() {}, rest() {} });

  function show() {
    const { controls: told, figure, said, problem } = model.get("shown");
    controls.take(told);
    words.replaceChildren();
    for (const [kind, text] of problem ? [["problem", problem]] : said) {
      const line = element("p", words, { className: kind });
      // **bold** and *italic* of our own sentences; nothing else of a text becomes markup
      text.split(/(\*\*[^*]+\*\*|\*[^*\s][^*]*\*)/).forEach((part, odd) => {
        if (odd % 2) element(part.startsWith("**") ? "b" : "i", line, { textContent: part.replaceAll("*", "") });
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
    controls.take([]);
    hidden.remove();
    Plotly.purge(chart);
  };
}

export default { render };
