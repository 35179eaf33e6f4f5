// A slider, or a row to put in order, among the controls of a bench: its bench draws while it moves, the page when it rests.

import { bench, same, TOLD_MS } from "../bench/live.js";
import { Order } from "./sortable.js";
import { Slider } from "./slider.js";

const AGAIN_MS = 2000; // then twice as long, and so on: what was said while the line was down is lost
const MOST_MS = 60_000;

class Control {
  said = null; // what the page was told and has not drawn yet

  constructor(host, data) {
    this.place = bench(data.bench);
    this.key = data.key;
    this.place.controls.set(this.key, this);
    this.slider = new (data.options.names ? Order : Slider)(host, {
      input: (text, dragged) => {
        clearTimeout(this.again);
        this.place.move(this.key, text, dragged);
      },
      stop: () => this.place.stop(),
      rest: (text) => this.rest(text),
    });
  }

  rest(text) {
    this.place.stop();
    // The page is there already, and is not about to go elsewhere.
    if (this.said === null && same(text, this.value)) return this.place.forget(this.key);
    this.said = text;
    this.saidAt = performance.now();
    this.say(text, AGAIN_MS);
  }

  // An older answer, with the value to which the hand has come back: what was said since is on its way.
  older(value) {
    return this.said !== null && !same(value, this.said) && performance.now() - this.saidAt < TOLD_MS;
  }

  // Until the page has drawn it.
  say(text, patience) {
    this.place.rest(this.key, () => this.tell(text));
    clearTimeout(this.again);
    this.again = setTimeout(() => this.say(text, Math.min(MOST_MS, 2 * patience)), patience);
  }

  take(data) {
    const { options } = data;
    this.forgoes?.();
    if (this.place.overtaken({ [this.key]: options.value }) || this.older(options.value)) {
      this.forgoes = this.place.afterwards(() => this.take(data)); // the page does not say it twice
      return;
    }
    const rests = this.known(options.value);
    this.slider.set(options);
    if (rests) this.place.expect(this.key, this.slider.likely);
  }

  // The page knows this value; whether the hand rests there.
  known(value) {
    clearTimeout(this.again);
    const rests = this.said !== null && this.slider.resting === 0;
    this.said = null;
    this.value = value;
    if (this.slider.resting === 0) this.place.known(this.key);
    return rests;
  }

  // The page knows this value without having drawn anything.
  heard(value) {
    if (this.said !== null && !same(value, this.said)) return; // what was said since is on its way
    if (this.known(value)) this.place.expect(this.key, this.slider.likely);
  }

  close() {
    clearTimeout(this.again);
    this.forgoes?.();
    if (this.place.controls.get(this.key) === this) this.place.controls.delete(this.key);
    this.slider.close();
    this.place.forget(this.key);
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  const host = parentElement.querySelector(".seqviz-slider");
  host.control ??= new Control(host, data);
  host.control.tell = (text) => setTriggerValue("value", text);
  host.control.take(data);
  return () => {
    host.control?.close();
    delete host.control;
  };
}
