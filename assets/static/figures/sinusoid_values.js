// The sinusoidal encoding of Vaswani et al. (2017), section 3.5, in the paper's spacing: the same
// columns as in seqviz/compute/positions/sinusoidal.py. An odd width ends with a sine.

// The pair of a dimension, and whether the dimension is its cosine.
export function place(dimension, d_model, layout) {
  if (layout === "halves") {
    const sines = Math.ceil(d_model / 2);
    const cosine = dimension >= sines;
    return { pair: cosine ? dimension - sines : dimension, cosine };
  }
  return { pair: dimension >> 1, cosine: dimension % 2 === 1 };
}

// The dimension with the sine of a pair.
export function sineOf(pair, layout) {
  return layout === "halves" ? pair : 2 * pair;
}

// Radians per position.
export function frequency(pair, d_model, base) {
  return base ** ((-2 * pair) / d_model);
}

export function value(position, dimension, d_model, base, layout) {
  const { pair, cosine } = place(dimension, d_model, layout);
  const angle = position * frequency(pair, d_model, base);
  return cosine ? Math.cos(angle) : Math.sin(angle);
}
