// A slider among the controls of a bench: its bench draws while it moves, the page when it rests.

import { bench } from "./live.js";
import { Slider } from "./slider.js";

export default function ({ data, parentElement, setTriggerValue }) {
  const host = parentElement.querySelector(".seqviz-slider");
  const place = bench(data.bench);
  host.tell = (text) => setTriggerValue("value", text);
  host.slider ??= new Slider(host, {
    input: (text) => place.move(data.key, text),
    rest: (text) => {
      place.told(data.key);
      host.tell(text);
    },
  });
  const { slider } = host;
  if (!place.overtaken({ [data.key]: data.options.value })) {
    if (slider.resting === 0) place.forget(data.key);
    slider.set(data.options);
  }
  return () => {
    slider.close();
    place.forget(data.key);
    delete host.slider;
  };
}
