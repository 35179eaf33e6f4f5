// Drawing primitives of the canvas. u: one pixel on a desktop, more in presenter mode.

// Words, and single Chinese characters with the punctuation that may not begin a line.
const CHINESE = "\\u3000-\\u9fff\\uff00-\\uffef";
const PIECES = new RegExp(`[${CHINESE}][、。，：；）]*|[^\\s${CHINESE}]+\\s*|\\s+`, "g");

export function pen(context, look, u) {
  const self = {
    context,
    font(pixels, weight = "") {
      context.font = `${weight} ${pixels * u}px ${look.font}`;
    },
    write(text, left, top, align = "left", color = look.text) {
      context.fillStyle = color;
      context.textAlign = align;
      context.textBaseline = "middle";
      context.fillText(text, left, top);
      return context.measureText(text).width;
    },
    upright(text, left, top) {
      context.save();
      context.translate(left, top);
      context.rotate(-Math.PI / 2);
      self.write(text, 0, 0, "center");
      context.restore();
    },
    // Text wrapped at `room`, with its last line at `top`; Chinese may break anywhere.
    paragraph(text, left, top, room, color = look.text) {
      const lines = [""];
      for (const piece of text.match(PIECES) ?? []) {
        const longer = lines.at(-1) + piece;
        if (lines.at(-1) && context.measureText(longer.trimEnd()).width > room) lines.push(piece);
        else lines[lines.length - 1] = longer;
      }
      lines.reverse().forEach((line, at) => {
        self.write(line, left, top - 20 * u * at, "left", color);
      });
    },
    rule(x1, y1, x2, y2, color, thick = 1) {
      context.strokeStyle = color;
      context.lineWidth = thick;
      context.beginPath();
      context.moveTo(x1, y1);
      context.lineTo(x2, y2);
      context.stroke();
    },
    frame(left, top, width, height, color, thick = 1) {
      context.strokeStyle = color;
      context.lineWidth = thick;
      context.strokeRect(left, top, width, height);
    },
    ring(x, y, radius, color, thick = 1) {
      context.strokeStyle = color;
      context.lineWidth = thick;
      context.beginPath();
      context.arc(x, y, radius, 0, 2 * Math.PI);
      context.stroke();
    },
    disc(x, y, radius, color) {
      context.fillStyle = color;
      context.beginPath();
      context.arc(x, y, radius, 0, 2 * Math.PI);
      context.fill();
    },
    // A triangle outside a frame, whose tip points down or, `sideways`, to the left.
    pointer(x, y, sideways) {
      const [along, across] = [9 * u, 5 * u];
      context.fillStyle = look.highlight;
      context.beginPath();
      context.moveTo(x, y);
      for (const side of [-across, across])
        if (sideways) context.lineTo(x + along, y + side);
        else context.lineTo(x + side, y - along);
      context.fill();
    },
  };
  return self;
}
