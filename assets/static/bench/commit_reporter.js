// What tells the page that a hand rests on a bench whose picture and words are on screen already, and
// hears that it knows.

import { bench } from "./live.js";

export default function ({ data, setTriggerValue }) {
  const place = bench(data.bench);
  place.tell = (told) => setTriggerValue("rest", told);
  place.heard(data);
  return () => {
    place.tell = null;
  };
}
