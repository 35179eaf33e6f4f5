// Heatmap of the encodings as pixels: at most one number per pixel, however large the table is.

import { frequency, place } from "./sinusoid_values.js";

const NEGATIVE = [43, 108, 196];
const POSITIVE = [214, 104, 20];
const SHADES = 255; // odd: the middle one is the page's background

const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

// One color per shade from -1 to 1, as canvas pixels hold them (red first in memory).
function shades(background) {
  const backgroundRgb = channels(background);
  const bytes = new Uint8ClampedArray(4 * SHADES);
  for (let shade = 0; shade < SHADES; shade++) {
    const amount = (2 * shade) / (SHADES - 1) - 1;
    const end = amount < 0 ? NEGATIVE : POSITIVE;
    const mixed = backgroundRgb.map((from, at) => from + Math.abs(amount) * (end[at] - from));
    bytes.set([...mixed, 255], 4 * shade);
  }
  return new Uint32Array(bytes.buffer);
}

// Where a table has more rows than pixels, whole pairs are skipped: every second row of an interleaved
// table would contain its sines only.
function shownDimension(row, rows, { d_model, layout }) {
  if (rows >= d_model) return row;
  if (layout === "halves") return Math.floor((row * d_model) / rows);
  const pairs = Math.ceil(d_model / 2);
  const pair = Math.floor((Math.floor(row / 2) * pairs) / Math.ceil(rows / 2));
  return Math.min(2 * pair + (row % 2), d_model - 1);
}

// A canvas filled with pixels, and an array to write them.
function raster(width, height, write) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d");
  const data = context.createImageData(width, height);
  write(new Uint32Array(data.data.buffer));
  context.putImageData(data, 0, 0);
  return canvas;
}

// {image, ramp, every, rows}: one pixel per entry shown, which is every `every`-th position and `rows` of
// the dimensions; and the color bar, with 1 at the top.
export function heat(settings, width, height, background) {
  const { positions, d_model, base, layout } = settings;
  const every = Math.ceil(positions / Math.max(width, 1));
  const columns = Math.ceil(positions / every);
  const rows = Math.min(d_model, 2 * Math.max(1, Math.floor(height / 2)));
  const color = shades(background);
  const middle = (SHADES - 1) / 2;
  const image = raster(columns, rows, (pixels) => {
    for (let row = 0, at = 0; row < rows; row++) {
      const { pair, cosine } = place(shownDimension(row, rows, settings), d_model, layout);
      // Addition theorems from one column to the next: faster than a sine per entry. The error after some
      // thousand steps is 1e-12, a shade is 8e-3.
      const turn = every * frequency(pair, d_model, base);
      const [along, across] = [Math.cos(turn), Math.sin(turn)];
      let c = 1;
      let s = 0;
      for (let column = 0; column < columns; column++) {
        pixels[at++] = color[Math.round(middle + middle * (cosine ? c : s))];
        const next = c * along - s * across;
        s = s * along + c * across;
        c = next;
      }
    }
  });
  const ramp = raster(1, SHADES, (pixels) => pixels.set(color.toReversed()));
  return { image, ramp, every, rows };
}
