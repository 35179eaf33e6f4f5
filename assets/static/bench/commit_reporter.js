// Report a commit of a bench whose figure and text are on screen already, and receive the
// acknowledgement of the page.

import { liveBench } from "./live.js";

export default function ({ data, setTriggerValue }) {
  const bench = liveBench(data.bench);
  bench.onCommit = (commit) => setTriggerValue("commit", commit);
  bench.onAcknowledged(data);
  return () => {
    bench.onCommit = null;
  };
}
