// Save the rendered chart as SVG or PNG, without the server. Plotly renders a chart as several
// stacked <svg> layers and Vega as one: they are stacked in one file. A <canvas> drawing is
// embedded as an image.

const PIXEL_RATIO = 2; // times the screen, for a slide

function chartElement(key) {
  return document.querySelector(".st-key-" + key.replaceAll(".", "-"));
}

// The drawing of an element as one SVG on its background; null without one.
export function composeSvg(host, color) {
  const layers = host.querySelectorAll("svg.main-svg, svg.marks");
  const canvas = [...host.querySelectorAll("canvas")].find((element) => element.renderAt);
  const graphic = layers[0] ?? canvas;
  if (!graphic) return null;
  const box = graphic.getBoundingClientRect();
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  svg.setAttribute("width", box.width);
  svg.setAttribute("height", box.height);
  svg.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
  const background = document.createElementNS(svg.namespaceURI, "rect");
  background.setAttribute("width", "100%");
  background.setAttribute("height", "100%");
  background.setAttribute("fill", color);
  svg.append(background);
  if (graphic === canvas) {
    const image = document.createElementNS(svg.namespaceURI, "image");
    image.setAttribute("width", box.width);
    image.setAttribute("height", box.height);
    image.setAttribute("href", canvas.renderAt(PIXEL_RATIO).toDataURL());
    svg.append(image);
  }
  for (const layer of layers) {
    const copy = layer.cloneNode(true);
    copy.querySelectorAll(".hoverlayer, .modebar-container").forEach((node) => node.remove());
    copy.removeAttribute("style");
    copy.style.fontFamily = getComputedStyle(layer).fontFamily;
    svg.append(copy);
  }
  return svg;
}

// Encode as a file: "svg", or "png" at twice the size.
export function download(svg, kind, stem) {
  const blob = new Blob([new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml;charset=utf-8" });
  if (kind === "svg") save(blob, `${stem}.svg`);
  else savePng(blob, +svg.getAttribute("width"), +svg.getAttribute("height"), `${stem}.png`);
}

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function savePng(blob, width, height, name) {
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement("canvas");
    canvas.width = PIXEL_RATIO * width;
    canvas.height = PIXEL_RATIO * height;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((png) => save(png, name), "image/png");
  };
  image.src = URL.createObjectURL(blob);
}

export default function ({ data, parentElement }) {
  for (const button of parentElement.querySelectorAll("button")) {
    const kind = button.dataset.kind;
    button.textContent = data[kind];
    button.onclick = () => {
      const paper = getComputedStyle(document.querySelector(".stApp")).backgroundColor;
      const svg = composeSvg(chartElement(data.figure), paper);
      if (svg) download(svg, kind, data.stem);
    };
  }
}
