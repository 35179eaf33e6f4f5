// Print page of a figure (`seqviz/ui/embed/print_page.py`): drawn once, and saved with its title
// and the QR code of its URL.

import { Chart } from "../bench/chart.js";
import { composeSvg, download } from "../bench/save_image.js";

const MAX_LINE_CHARS = 86; // letters of an address in one line
const FOOTER_PX = 120; // pixels below the figure
const SVG = "http://www.w3.org/2000/svg";
const host = document.querySelector(".seqviz-chart");
const { figure, alt, vega, component } = JSON.parse(document.getElementById("payload").textContent);
const isGray = document.body.classList.contains("gray");

if (figure) new Chart(host).show(figure, alt);
else if (vega) host.innerHTML = vega;
else if (component) {
  host.innerHTML = `<div class="seqviz-${component.name}"></div>`;
  const { default: start } = await import(`../figures/${component.name}.js`);
  start({ data: component, parentElement: host, setTriggerValue: () => {} });
}
document.body.classList.toggle("static", !figure);

function appendSvg(parent, tag, attributes, words = "") {
  const created = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) created.setAttribute(name, value);
  created.textContent = words;
  parent.append(created);
  return created;
}

function composePage() {
  const figureSvg = composeSvg(host, "#fff");
  if (!figureSvg) return null;
  const [width, height] = ["width", "height"].map((name) => Number(figureSvg.getAttribute(name)));
  const page = document.createElementNS(SVG, "svg");
  const size = { width, height: height + 34 + FOOTER_PX };
  for (const [name, value] of Object.entries({ xmlns: SVG, ...size, viewBox: `0 0 ${width} ${size.height}` }))
    page.setAttribute(name, value);
  appendSvg(page, "rect", { width: "100%", height: "100%", fill: "#fff" });
  const font = { "font-family": getComputedStyle(host).fontFamily, fill: "#000" };
  appendSvg(page, "text", { ...font, x: 10, y: 22, "font-size": 16, "font-weight": 600 }, document.querySelector("h1").textContent);
  figureSvg.setAttribute("y", 34);
  if (isGray && !figure) {
    const filter = appendSvg(page, "filter", { id: "gray" });
    appendSvg(filter, "feColorMatrix", { type: "saturate", values: 0 });
    appendSvg(page, "g", { filter: "url(#gray)" }).append(figureSvg);
  } else page.append(figureSvg);
  const code = document.querySelector("#code svg")?.cloneNode(true);
  if (code) {
    code.setAttribute("viewBox", `0 0 ${code.getAttribute("width")} ${code.getAttribute("height")}`);
    for (const [name, value] of Object.entries({ x: width - 112, y: height + 40, width: 104, height: 104 }))
      code.setAttribute(name, value);
    page.append(code);
  }
  const link = document.querySelector("#address a").textContent;
  (link.match(new RegExp(`.{1,${MAX_LINE_CHARS}}`, "g")) ?? []).slice(0, 6).forEach((line, index) =>
    appendSvg(page, "text", { ...font, x: 10, y: height + 58 + 15 * index, "font-size": 11 }, line));
  return page;
}

for (const button of document.querySelectorAll("[data-kind]"))
  button.onclick = () => {
    const { kind } = button.dataset;
    if (kind === "print") return window.print();
    const svg = composePage();
    if (svg) download(svg, kind, document.body.dataset.stem);
  };
globalThis.seqvizPrintPage = composePage; // to look at from outside
