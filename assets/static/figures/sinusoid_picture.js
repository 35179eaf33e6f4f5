// Picture of one setting: heatmap, wave of a dimension, a position as clock hands.

import { heat } from "./sinusoid_heat.js";
import { pen } from "./sinusoid_pen.js";
import { frequency, place, value } from "./sinusoid_values.js";

const MAX_CLOCKS = 32;
const NARROW_PX = 580; // pixels at a desk; on less, titles take two lines and a row holds 8 clocks
const NARROWEST_PX = 340; // on less, titles take three lines
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];
export const numberFormat = new Intl.NumberFormat("en-US");
const rounded = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 3 });
export const minus = (text) => text.replace("-", "\u2212");
export const interpolate = (words, values) => words.replace(/\{(\w+)\}/g, (_, name) => values[name]);

export const valueAt = (position, dimension, { d_model, base, layout }) =>
  value(position, dimension, d_model, base, layout);

// Description of the chosen dimension and position; `power` is an exponent.
export function describe({ position, dimension, d_model, base, layout }, words) {
  const { pair, cosine } = place(dimension, d_model, layout);
  const turn = (2 * Math.PI) / frequency(pair, d_model, base);
  return {
    name: interpolate(words.dimension_is, { dimension }),
    formula: `${cosine ? "cos" : "sin"}(p / ${base}`,
    power: `2\u00b7${pair}/${d_model}`,
    wavelength: interpolate(words.wavelength, { wavelength: rounded.format(turn) }),
    at: interpolate(words.value_at, { position: numberFormat.format(position) }),
    value: minus(value(position, dimension, d_model, base, layout).toFixed(3)),
  };
}

// Layout in CSS pixels; in presenter mode it fits into the window.
function geometry(width, u) {
  const narrow = width < NARROW_PX * u;
  const lines = !narrow ? 1 : width >= NARROWEST_PX * u ? 2 : 3;
  const across = { left: 54 * u, width: Math.max(10, width - 114 * u) };
  // 256 pixels: rows of equal height where the width of the encoding is a power of two.
  const maxHeight = u > 1 ? 0.78 * window.innerHeight - 285 * u : Infinity;
  const map = { ...across, top: (14 + 20 * lines) * u };
  map.height = Math.max(128 * u, Math.min(256 * u, Math.round(maxHeight)));
  const wave = { ...across, top: map.top + map.height + (34 + 20 * lines) * u, height: 60 * u };
  const clocks = { ...across, top: wave.top + wave.height + (48 + 20 * lines) * u };
  clocks.height = (narrow ? 140 : 66) * u;
  return { height: clocks.top + clocks.height + u, u, narrow, lines, map, wave, clocks };
}

// The circles of the clocks {pair, x, y, radius}: all pairs, or 32 from the first to the last.
export function dials({ clocks, narrow }, d_model) {
  const pairs = Math.floor(d_model / 2);
  const count = Math.min(pairs, MAX_CLOCKS);
  const across = Math.min(count, narrow ? 8 : 16);
  const [pitch, height] = [clocks.width / across, clocks.height / Math.ceil(count / across)];
  const available = Math.min(pitch, height, clocks.height) / 2;
  const step = Math.min(pitch, 3.2 * available); // few clocks stand close together, at the left
  return Array.from({ length: count }, (_, at) => ({
    pair: Math.round((at * (pairs - 1)) / Math.max(count - 1, 1)),
    x: clocks.left + step * ((at % across) + 0.5),
    y: clocks.top + height * (Math.floor(at / across) + 0.5),
    radius: 0.86 * available,
  }));
}

// Integers 0, step, 2 step ... below `count`, at most about `most` of them.
function ticks(count, maxTicks) {
  const step = STEPS.find((candidate) => count / candidate <= maxTicks) ?? 10000;
  return Array.from({ length: Math.ceil(count / step) }, (_, index) => index * step);
}

function drawMap(pen, { settings, words, look, plan, heatmap, x, y }) {
  const { positions, d_model, position, dimension } = settings;
  const { u, map } = plan;
  const { context } = pen;
  const texts = [interpolate(words.size, { positions: numberFormat.format(positions), d_model })];
  if (heatmap.every > 1) texts.push(interpolate(words.some_positions, { every: heatmap.every }));
  if (heatmap.rows < d_model) texts.push(interpolate(words.some_dimensions, { shown: heatmap.rows }));
  pen.font(14);
  pen.paragraph(texts.join(words.join), map.left, map.top - 22 * u, map.width + 50 * u, look.quiet);

  context.save();
  context.beginPath();
  context.rect(map.left, map.top, map.width, map.height);
  context.clip();
  context.imageSmoothingEnabled = false;
  const imageWidth = (map.width * heatmap.image.width * heatmap.every) / positions;
  context.drawImage(heatmap.image, map.left, map.top, imageWidth, map.height);
  context.restore();
  pen.frame(map.left, map.top, map.width, map.height, look.border);

  pen.font(13);
  for (const at of ticks(d_model, map.height / (34 * u)))
    pen.write(numberFormat.format(at), map.left - 6 * u, y(at), "right");
  pen.font(14);
  pen.upright(words.axis_dimension, 10 * u, map.top + map.height / 2);

  const [wide, high] = [map.width / positions, map.height / d_model].map((side) =>
    Math.max(side, 3 * u),
  );
  pen.frame(x(position) - wide / 2, map.top, wide, map.height, look.text, 1.5 * u);
  pen.frame(map.left, y(dimension) - high / 2, map.width, high, look.text, 1.5 * u);
  pen.pointer(x(position), map.top - 1, false);
  pen.pointer(map.left + map.width + 1, y(dimension), true);

  const bar = { left: map.left + map.width + 15 * u, width: 12 * u };
  context.drawImage(heatmap.ramp, bar.left, map.top, bar.width, map.height);
  pen.frame(bar.left, map.top, bar.width, map.height, look.border);
  pen.font(13);
  for (const level of [1, 0, -1])
    pen.write(
      minus(String(level)),
      bar.left + bar.width + 4 * u,
      map.top + ((1 - level) / 2) * map.height,
    );
  pen.font(14);
  pen.upright(words.value, bar.left + bar.width + 26 * u, map.top + map.height / 2);
}

function drawWave(pen, { settings, words, look, plan, x }) {
  const { positions, d_model, base, layout, position, dimension } = settings;
  const { u, map, wave, lines } = plan;
  const { context } = pen;
  const texts = describe(settings, words);
  let [left, top] = [wave.left, wave.top + (4 - 20 * lines) * u];
  const run = (text, size, weight = "", raised = 0) => {
    pen.font(size, weight);
    left += pen.write(text, left, top - raised * u);
  };
  run(texts.name, 14, "600");
  run(texts.formula, 14);
  run(texts.power, 11, "", 6);
  run(")", 14);
  if (lines > 1) [left, top] = [wave.left, top + 20 * u];
  else left += 14 * u;
  run(texts.at, 14);
  run(texts.value, 14, "600");
  pen.font(14);
  if (lines > 2) pen.write(texts.wavelength, wave.left, top + 20 * u, "left", look.quiet);
  else {
    // At the right end of the wave, or farther where the label before it needs space.
    const needed = left + 14 * u + context.measureText(texts.wavelength).width;
    const end = Math.max(wave.left + wave.width, needed);
    pen.write(texts.wavelength, end, top, "right", look.quiet);
  }

  const level = (amount) => wave.top + ((1 - amount) / 2) * wave.height;
  pen.font(13);
  for (const amount of [-1, 0, 1]) {
    pen.rule(wave.left, level(amount), wave.left + wave.width, level(amount), look.border);
    pen.write(minus(String(amount)), wave.left - 6 * u, level(amount), "right");
  }
  for (const { top, height } of [map, wave])
    for (const at of ticks(positions, wave.width / (64 * u)))
      pen.write(numberFormat.format(at), x(at), top + height + 13 * u, "center");
  pen.font(14);
  const below = wave.top + wave.height + 31 * u;
  pen.write(words.axis_position, wave.left + wave.width / 2, below, "center");

  const { pair } = place(dimension, d_model, layout);
  const phaseStep = (positions / wave.width) * frequency(pair, d_model, base);
  if (phaseStep > 3) {
    // Half a turn or more per pixel: only the band that the line fills can be drawn.
    context.globalAlpha = 0.45;
    context.fillStyle = look.line;
    context.fillRect(x(0), wave.top, x(positions - 1) - x(0), wave.height);
    context.globalAlpha = 1;
    pen.write(words.crowded, wave.left + wave.width / 2, level(0), "center");
  } else {
    const steps = Math.round(4 * wave.width);
    context.strokeStyle = look.line;
    context.lineWidth = 2 * u;
    context.lineJoin = "round";
    context.beginPath();
    for (let step = 0; step <= steps; step++) {
      const p = ((positions - 1) * step) / steps;
      context.lineTo(x(p), level(valueAt(p, dimension, settings)));
    }
    context.stroke();
    if (wave.width / positions >= 7 * u)
      for (let p = 0; p < positions; p++)
        pen.disc(x(p), level(valueAt(p, dimension, settings)), 3 * u, look.line);
  }
  pen.rule(x(position), wave.top, x(position), wave.top + wave.height, look.text, u);
  const height = level(valueAt(position, dimension, settings));
  pen.disc(x(position), height, 5 * u, look.highlight);
  pen.ring(x(position), height, 5 * u, look.text, 1.5 * u);
}

function drawClocks(pen, { settings, words, look, plan }) {
  const { d_model, base, layout, position, dimension } = settings;
  const { u, clocks } = plan;
  const faces = dials(plan, d_model);
  const pairs = Math.floor(d_model / 2);
  const kind = pairs === 0 ? "no_clock" : faces.length < pairs ? "some_clocks" : "clocks";
  const values = { position: numberFormat.format(position), shown: faces.length, pairs };
  pen.font(14);
  const title = interpolate(words[kind], values);
  pen.paragraph(title, clocks.left, clocks.top - 12 * u, clocks.width + 50 * u);
  for (const { pair, x, y, radius } of faces) {
    const isChosen = pair === place(dimension, d_model, layout).pair;
    pen.ring(x, y, radius, isChosen ? look.text : look.quiet, (isChosen ? 2 : 1) * u);
    pen.rule(x + 0.75 * radius, y, x + radius, y, look.quiet, u); // where the hands start
    const angle = position * frequency(pair, d_model, base);
    const tip = [x + radius * Math.cos(angle), y - radius * Math.sin(angle)];
    pen.rule(x, y, ...tip, isChosen ? look.text : look.line, 2 * u);
    pen.disc(...tip, (isChosen ? 4 : 2.5) * u, isChosen ? look.highlight : look.line);
  }
}

// `paint(canvas, settings, words, look, width, factor)` draws everything, at `factor` canvas pixels per
// CSS pixel, and returns the layout. The heatmap is reused while it is unchanged.
export function painter() {
  let heatmap = { key: "" };
  return (canvas, settings, words, look, width, factor) => {
    const plan = geometry(width, look.unit);
    const context = canvas.getContext("2d");
    const [wide, high] = [width, plan.height].map((side) => Math.round(side * factor));
    if (canvas.width !== wide) canvas.width = wide;
    if (canvas.height !== high) canvas.height = high;
    context.setTransform(factor, 0, 0, factor, 0, 0);
    context.clearRect(0, 0, width, plan.height);

    const { positions, d_model, base, layout } = settings;
    const { map } = plan;
    const size = [map.width, map.height].map((side) => Math.round(side * factor));
    const key = [positions, d_model, base, layout, look.background, ...size].join();
    if (heatmap.key !== key) heatmap = { key, ...heat(settings, ...size, look.background) };

    const x = (at) => map.left + ((at + 0.5) / positions) * map.width;
    const y = (at) => map.top + ((at + 0.5) / d_model) * map.height;
    const scene = { settings, words, look, plan, heatmap, x, y };
    for (const draw of [drawMap, drawWave, drawClocks]) draw(pen(context, look, plan.u), scene);
    return plan;
  };
}
