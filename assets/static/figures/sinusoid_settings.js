// Options of the settings, and their validation.

export const STOPS = {
  positions: [
    2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 50, 64, 80, 100, 128, 160, 200, 256, 320, 400,
    512, 640, 800, 1000, 1280, 1600, 2000, 2500, 3200, 4000, 5000, 6400, 8000, 10000,
  ],
  d_model: [
    2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 20, 24, 28, 31, 32, 33, 40,
    48, 56, 63, 64, 65, 80, 96, 100, 112, 127, 128, 129, 160, 192, 200, 224, 255, 256, 257, 300,
    320, 384, 448, 511, 512,
  ],
  base: [
    1.5, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000, 2000, 3000, 5000, 10000, 20000,
    30000, 50000, 100000, 200000, 300000, 500000, 1000000,
  ],
};
export const LAYOUTS = ["interleaved", "halves"];
export const NAMES = ["positions", "d_model", "base", "layout", "position", "dimension"];

export const settingsKey = (settings) => JSON.stringify(NAMES.map((name) => settings[name]));

// Valid settings: an impossible value keeps the present one or is clipped to the nearest bound.
export function clampSettings(values, current) {
  const number = (name, low, high, isInteger = true) => {
    const value = Number(values[name] ?? current[name]);
    const finite = Number.isFinite(value) ? value : current[name];
    return Math.min(high, Math.max(low, isInteger ? Math.round(finite) : finite));
  };
  const positions = number("positions", 1, 10000);
  const d_model = number("d_model", 2, 512);
  return {
    positions,
    d_model,
    base: values.base > 1 ? number("base", 1, 1e9, false) : current.base,
    layout: LAYOUTS.includes(values.layout) ? values.layout : current.layout,
    position: number("position", 0, positions - 1),
    dimension: number("dimension", 0, d_model - 1),
  };
}
