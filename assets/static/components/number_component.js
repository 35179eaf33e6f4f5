// Number field as a Streamlit component, among the controls of a bench or below an exercise.

import { NumberBox } from "./number_box.js";

export default function ({ data, parentElement, setTriggerValue }) {
  const host = parentElement.querySelector(".seqviz-slider");
  host.box ??= new NumberBox(host);
  host.box.onCommit = (text) => setTriggerValue("value", text);
  host.box.set(data);
  return () => {
    host.box?.close();
    delete host.box;
  };
}
