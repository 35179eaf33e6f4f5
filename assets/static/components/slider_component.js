// Slider or sortable list as a Streamlit component: the bench is painted during a drag, the page
// reruns on commit.

import { liveBench, sameValue, COMMIT_TIMEOUT_MS } from "../bench/live.js";
import { Sortable } from "./sortable.js";
import { Slider } from "./slider.js";

const RETRY_MS = 2000; // doubled each time: a report is lost while the connection is down
const MAX_RETRY_MS = 60_000;

class Control {
  reported = null; // the value that the page has not acknowledged yet

  constructor(host, data) {
    this.bench = liveBench(data.bench);
    this.key = data.key;
    this.bench.controls.set(this.key, this);
    this.slider = new (data.options.names ? Sortable : Slider)(host, {
      onInput: (text, isDragging) => {
        clearTimeout(this.retryTimer);
        this.bench.move(this.key, text, isDragging);
      },
      onRelease: () => this.bench.release(),
      onCommit: (text) => this.commit(text),
    });
  }

  commit(text) {
    this.bench.release();
    // The page shows this value already, and no other report is pending.
    if (this.reported === null && sameValue(text, this.value)) return this.bench.reset(this.key);
    this.reported = text;
    this.reportedAt = performance.now();
    this.report(text, RETRY_MS);
  }

  // Return whether this value of the page is older than the last report.
  isOutdated(value) {
    return this.reported !== null && !sameValue(value, this.reported) && performance.now() - this.reportedAt < COMMIT_TIMEOUT_MS;
  }

  // Repeated until the page acknowledges it.
  report(text, delayMs) {
    this.bench.commit(this.key, () => this.onCommit(text));
    clearTimeout(this.retryTimer);
    this.retryTimer = setTimeout(() => this.report(text, Math.min(MAX_RETRY_MS, 2 * delayMs)), delayMs);
  }

  update(data) {
    const { options } = data;
    this.cancelDeferred?.();
    if (this.bench.isStale({ [this.key]: options.value }) || this.isOutdated(options.value)) {
      this.cancelDeferred = this.bench.whenIdle(() => this.update(data)); // the page sends it once
      return;
    }
    const isCommitted = this.acknowledge(options.value);
    this.slider.set(options);
    if (isCommitted) this.bench.prefetch(this.key, this.slider.neighbors);
  }

  // The page has received this value; return whether it is the committed one.
  acknowledge(value) {
    clearTimeout(this.retryTimer);
    const isCommitted = this.reported !== null && this.slider.commitTimer === 0;
    this.reported = null;
    this.value = value;
    if (this.slider.commitTimer === 0) this.bench.clearPending(this.key);
    return isCommitted;
  }

  // The page has received this value without a rerender.
  onAcknowledged(value) {
    if (this.reported !== null && !sameValue(value, this.reported)) return; // a later report is on its way
    if (this.acknowledge(value)) this.bench.prefetch(this.key, this.slider.neighbors);
  }

  close() {
    clearTimeout(this.retryTimer);
    this.cancelDeferred?.();
    if (this.bench.controls.get(this.key) === this) this.bench.controls.delete(this.key);
    this.slider.close();
    this.bench.reset(this.key);
  }
}

// On a phone the controls are a strip (phone.css). It stays with the control at its edge when a slider
// comes before that one; its beginning is to be seen.
function showBeginning(element) {
  const strip = element.closest(".stColumn > .stVerticalBlock > * > .stVerticalBlock");
  requestAnimationFrame(() => strip?.scrollTo({ left: 0 }));
}

export default function ({ data, parentElement, setTriggerValue }) {
  const host = parentElement.querySelector(".seqviz-slider");
  if (!host.control) showBeginning(parentElement.host ?? parentElement);
  host.control ??= new Control(host, data);
  host.control.onCommit = (text) => setTriggerValue("value", text);
  host.control.update(data);
  return () => {
    host.control?.close();
    delete host.control;
  };
}
