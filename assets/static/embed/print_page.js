// A figure for print (`seqviz/ui/embed/print_page.py`): drawn once, and saved with its name and
// the code of its address.

import { Chart } from "../bench/chart.js";
import { pictured, saved } from "../bench/save_image.js";

const LINE = 86; // letters of an address in one line
const FOOT = 120; // pixels below the figure
const SVG = "http://www.w3.org/2000/svg";
const host = document.querySelector(".seqviz-chart");
const { figure, alt, vega, component } = JSON.parse(document.getElementById("told").textContent);
const gray = document.body.classList.contains("gray");

if (figure) new Chart(host).show(figure, alt);
else if (vega) host.innerHTML = vega;
else if (component) {
  host.innerHTML = `<div class="seqviz-${component.name}"></div>`;
  const { default: start } = await import(`../figures/${component.name}.js`);
  start({ data: component, parentElement: host, setTriggerValue: () => {} });
}
document.body.classList.toggle("still", !figure);

function put(parent, tag, attributes, words = "") {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.textContent = words;
  parent.append(made);
  return made;
}

function composed() {
  const inner = pictured(host, "#fff");
  if (!inner) return null;
  const [width, height] = ["width", "height"].map((name) => Number(inner.getAttribute(name)));
  const whole = document.createElementNS(SVG, "svg");
  const size = { width, height: height + 34 + FOOT };
  for (const [name, value] of Object.entries({ xmlns: SVG, ...size, viewBox: `0 0 ${width} ${size.height}` }))
    whole.setAttribute(name, value);
  put(whole, "rect", { width: "100%", height: "100%", fill: "#fff" });
  const font = { "font-family": getComputedStyle(host).fontFamily, fill: "#000" };
  put(whole, "text", { ...font, x: 10, y: 22, "font-size": 16, "font-weight": 600 }, document.querySelector("h1").textContent);
  inner.setAttribute("y", 34);
  if (gray && !figure) {
    const filter = put(whole, "filter", { id: "gray" });
    put(filter, "feColorMatrix", { type: "saturate", values: 0 });
    put(whole, "g", { filter: "url(#gray)" }).append(inner);
  } else whole.append(inner);
  const code = document.querySelector("#code svg")?.cloneNode(true);
  if (code) {
    code.setAttribute("viewBox", `0 0 ${code.getAttribute("width")} ${code.getAttribute("height")}`);
    for (const [name, value] of Object.entries({ x: width - 112, y: height + 40, width: 104, height: 104 }))
      code.setAttribute(name, value);
    whole.append(code);
  }
  const link = document.querySelector("#address a").textContent;
  (link.match(new RegExp(`.{1,${LINE}}`, "g")) ?? []).slice(0, 6).forEach((line, at) =>
    put(whole, "text", { ...font, x: 10, y: height + 58 + 15 * at, "font-size": 11 }, line));
  return whole;
}

for (const button of document.querySelectorAll("[data-kind]"))
  button.onclick = () => {
    const { kind } = button.dataset;
    if (kind === "print") return window.print();
    const svg = composed();
    if (svg) saved(svg, kind, document.body.dataset.stem);
  };
globalThis.seqvizStill = composed; // to look at from outside
