// The figure of the home page: a lesson's figure without its third panel, with plain words and one
// legend between the two others. `tools/pictures.py` runs this, too: no imports.

const TRACES = ["sample", "theory", "band"];

// figure: JSON; words: of the axes and of the three traces (`shell.home_words`).
export function heroFigure(figure, words) {
  const { data, layout } = JSON.parse(figure);
  const traces = data.filter(({ xaxis }) => xaxis !== "x3");
  for (const trace of traces) if (TRACES.includes(trace.legendgroup)) trace.name = words[trace.legendgroup];
  const { xaxis3, yaxis3, ...rest } = layout;
  rest.xaxis = { ...rest.xaxis, title: { ...rest.xaxis.title, standoff: 2 } };
  rest.yaxis = { ...rest.yaxis, domain: [0.7, 1] };
  rest.xaxis2 = { ...rest.xaxis2, domain: [0, 1], title: { ...rest.xaxis2.title, text: words.lag } };
  rest.yaxis2 = { ...rest.yaxis2, domain: [0, 0.34], title: { ...rest.yaxis2.title, text: words.correlation } };
  rest.legend = { ...rest.legend, orientation: "h", x: 1, xanchor: "right", y: 0.35, yanchor: "bottom" };
  return JSON.stringify({ data: traces, layout: rest });
}
