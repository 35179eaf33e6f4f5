// While a control of a bench is dragged, request its figure for the current values and paint it in
// place. Only the latest value counts: one request per bench at a time, and a stale value is
// neither requested nor painted. When the drag is committed, the value is reported to the page
// once, and the page renders everything as usual. If anything fails here, only that render remains.
//
// Some benches are rendered in the browser, from payloads that are loaded once (ClientRenderer in
// seqviz/lessons/framework/lesson.py). Their script exports a class ClientRenderer(data,
// loadPayload): `data` is the first payload, `await loadPayload(name)` another one; render(values)
// returns { metadata, figure } like the two lines of a server response, or null where the server
// must respond.

export const COMMIT_TIMEOUT_MS = 2000; // after which the page draws the value reported last, whatever it is
const SLOW_MS = 300; // a slower response shows a waiting mark
const REQUEST_TIMEOUT_MS = 5000;
const DROP_STALE_MS = 40; // after a release, how long a response to an earlier value may still take
const IDLE_MS = 300; // without input, before the neighboring values are prefetched
const MAX_PREFETCHED = 16; // responses
const MAX_PREFETCH_TRIES = 5;
const CLIENT_RENDERER_DELAY_MS = 500; // after the page has rendered
const RETRY_MS = 3000; // after a failed load
const LARGE_ARRAY = /"bdata":"(#[0-9a-f]{16}|[A-Za-z0-9+/=]{4096,})"/g; // as in plotting/figure.py
const benches = new Map();

export function liveBench(prefix) {
  if (!benches.has(prefix)) benches.set(prefix, new LiveBench());
  return benches.get(prefix);
}

export const liveBenches = () => benches.values();

export const sameValue = (a, b) => a === b || Number(a) === Number(b);

// Values as a query string, independent of their order.
function queryKey(values) {
  const parameters = new URLSearchParams(values);
  parameters.sort();
  return parameters.toString();
}

// The first of a response's two lines: metadata of the figure. is_transient: the same values may give
// another figure the next time.
const metadata = (answer) => JSON.parse(answer.slice(0, answer.indexOf("\n")));

class LiveBench {
  pending = new Map(); // key of a control -> its value, and when it was reported to the page
  isDirty = false;
  busy = false;
  isAtPageValue = false; // the control is back at the value that the page shows
  isFollower = false; // a teacher in another browser sets the values
  isDragging = false; // a handle is held: another request will follow soon
  inFlight = null; // { abort, isDragging } of the current request
  source = null; // { address, query, token }: where to request, with all other settings
  view = null; // paints a response
  arrays = new Map(); // the large ones of the last response, which are not sent again
  prefetched = new Map(); // query -> response
  prefetching = null; // AbortController of the prefetch
  frames = []; // times and values of the last paints, for measuring
  controls = new Map(); // by key, for acknowledgements of the page
  overlay = null; // { key, answer }: the response that covers what the page has rendered
  pendingCommit = null; // { number, values, answer } of the last reported commit
  nCommits = 0;
  onCommit = null; // reports a commit to the page (`commit_reporter.js`)
  layoutSignature = null; // of the page's render: with an equal one, a response shows all of it
  idleCallbacks = []; // called when no request is left
  offered = null; // { key, unpack }: a frame that was broadcast to the room
  deferred = new Set(); // renders of the page that wait until the drag is over
  steps = null; // the chips of the bench (`steps.js`)
  clientRenderer = null; // { key, renderer }; renderer: null while it is loaded

  // The page has rendered the bench with these values; `source` says where to request others.
  onRendered(source, view) {
    this.source = source;
    this.view = view;
    this.overlay = null;
    for (const [key, { text, reportedAt, once }] of this.pending)
      if (once || (reportedAt && sameValue(text, source.values[key]))) this.pending.delete(key);
    setTimeout(() => this.loadClientRenderer(), CLIENT_RENDERER_DELAY_MS);
  }

  // The page has rendered older values of the dragged control. Other settings that differ in it count
  // for the drag as well.
  onStale(source) {
    const fixed = ({ query }) => queryKey(Object.entries(query).filter(([key]) => !this.pending.has(key)));
    if (this.source && fixed(source) === fixed(this.source)) return;
    this.source = source;
    this.isDirty = true;
    this.request();
  }

  // Whether the page's render is older than the values set meanwhile.
  isStale(values) {
    const now = performance.now();
    return [...this.pending].some(
      ([key, { text, reportedAt }]) =>
        values[key] !== undefined && !sameValue(text, values[key]) && !(reportedAt && now - reportedAt > COMMIT_TIMEOUT_MS),
    );
  }

  // Run an action when the page has rendered the reported values, after COMMIT_TIMEOUT_MS at the earliest;
  // the returned function cancels it.
  whenIdle(action) {
    let timer;
    const end = () => {
      clearTimeout(timer);
      this.deferred.delete(end);
    };
    this.deferred.add(end);
    const wait = () => {
      timer = setTimeout(() => {
        const state = document.querySelector(".stApp")?.dataset.testScriptState ?? "notRunning";
        if (state !== "notRunning") return wait();
        end();
        action();
      }, COMMIT_TIMEOUT_MS);
    };
    wait();
    return end;
  }

  move(key, text, isDragging = false) {
    this.isDragging = isDragging;
    this.isFollower = false;
    this.prefetching?.abort();
    this.isAtPageValue = false;
    this.pending.set(key, { text, reportedAt: 0 });
    this.isDirty = true;
    this.request();
  }

  // Values set elsewhere, of which the page learns by itself: show their figure until it renders.
  // null: the default.
  set(values) {
    for (const [key, text] of Object.entries(values)) this.pending.set(key, { text, reportedAt: performance.now(), once: true });
    this.isDirty ||= Object.keys(values).length > 0;
    this.request();
  }

  // The handle is released. Requests of a drag have a lower priority, so the current one may come late:
  // it is dropped and sent again.
  release() {
    this.isDragging = false;
    const { inFlight } = this;
    if (!inFlight?.isDragging) return;
    setTimeout(() => {
      if (this.inFlight !== inFlight) return;
      this.isDirty = true;
      inFlight.abort();
    }, DROP_STALE_MS);
  }

  markReported(key) {
    const change = this.pending.get(key);
    if (change) change.reportedAt = performance.now();
  }

  // Values are committed. Either all that the page would render is on screen already, or `redraw` requests it.
  // keys: one or several. step: number of the step that has set them (`steps.js`).
  async commit(keyOrKeys, redraw, step = 0) {
    const keys = [keyOrKeys].flat();
    keys.forEach((key) => this.markReported(key));
    const changes = keys.map((key) => this.pending.get(key));
    if (this.busy || this.isDirty)
      await new Promise((resolve) => {
        this.idleCallbacks.push(resolve);
        setTimeout(resolve, SLOW_MS);
      });
    if (keys.some((key, index) => this.pending.get(key) !== changes[index])) return; // moved on, and committed again
    const { overlay, layoutSignature } = this;
    const isComplete =
      layoutSignature && overlay?.key === queryKey(this.currentQuery()) && metadata(overlay.answer).layout_signature === layoutSignature &&
      [...this.pending.values()].every(({ reportedAt }) => reportedAt);
    if (!isComplete || !this.onCommit || this.deferred.size > 0) return redraw();
    const values = Object.fromEntries([...this.pending].map(([name, { text }]) => [name, text]));
    this.pendingCommit = { number: ++this.nCommits, values, answer: overlay.answer };
    this.onCommit({ number: this.nCommits, values, layout_signature: layoutSignature, ...(step && { step }) });
  }

  // The page has taken over the commit without rendering the bench; or it has rendered it, with this signature.
  onAcknowledged({ layout_signature: layoutSignature, number }) {
    this.layoutSignature = layoutSignature;
    if (this.pendingCommit?.number !== number) return;
    const { values, answer } = this.pendingCommit;
    this.pendingCommit = null;
    // A deferred render of the page would be older than this commit: report it again.
    if (this.deferred.size > 0) {
      for (const [key, text] of Object.entries(values)) this.controls.get(key)?.onCommit(text);
      return;
    }
    Object.assign(this.source.query, values);
    Object.assign(this.source.values, values);
    this.view.adopt(answer);
    for (const [key, text] of Object.entries(values)) this.controls.get(key)?.onAcknowledged(text);
    this.steps?.onAcknowledged();
  }

  // Text is typed into a field; at the page's own text there is nothing to request.
  onTextInput(key, text) {
    if (text === this.source.values[key]) return this.reset(key);
    this.move(key, text);
  }

  // The pending values, and everything else as the page has it.
  currentQuery() {
    const values = { ...this.source.query };
    for (const [key, { text }] of this.pending)
      if (text === null) delete values[key];
      else values[key] = text;
    return values;
  }

  // The page renders the bench with this value next.
  clearPending(key) {
    this.pending.delete(key);
  }

  // The page already shows this value: uncover its own figure and text.
  reset(key) {
    this.pending.delete(key);
    if (this.pending.size > 0) return;
    this.isAtPageValue = true;
    if (this.view?.isMounted()) this.restore();
  }

  // Forget values of a chart that is gone with its page; sliders do so by themselves.
  onUnmount() {
    if (this.view?.isMounted()) return;
    for (const key of this.pending.keys()) if (!this.controls.has(key)) this.pending.delete(key);
  }

  restore() {
    this.overlay = null;
    this.view.restore();
    this.steps?.onRestored();
  }

  // Fill in the arrays that a response only names, from those known when it was requested; null where
  // one is missing.
  mergeArrays(text, knownArrays) {
    const end = text.indexOf("\n");
    const { arrays } = metadata(text);
    const merged = new Map();
    let index = 0;
    const figure = text.slice(end).replace(LARGE_ARRAY, (_, data) => {
      const name = arrays[index++];
      merged.set(name, data.startsWith("#") ? knownArrays.get(name) : data);
      return `"bdata":"${merged.get(name)}"`;
    });
    this.arrays = [...merged.values()].includes(undefined) ? new Map() : merged;
    return this.arrays === merged ? text.slice(0, end) + figure : null;
  }

  // Load the client renderer, once for each set of values that it depends on.
  async loadClientRenderer() {
    const { client_renderer: rendererSource, address, query } = this.source ?? {};
    if (!rendererSource || !address) return;
    const dependencies = Object.fromEntries(Object.entries(query).filter(([key]) => rendererSource.dependencies.includes(key)));
    const key = queryKey(dependencies);
    if (this.clientRenderer?.key === key) return;
    const loading = (this.clientRenderer = { key, renderer: null });
    const loadPayload = (payload) => this.loadPayload(dependencies, payload);
    try {
      const [{ ClientRenderer }, data] = await Promise.all([import(`../figures/${rendererSource.script}.js`), loadPayload("")]);
      loading.renderer = new ClientRenderer(data, loadPayload);
    } catch {
      setTimeout(() => {
        if (this.clientRenderer !== loading) return;
        this.clientRenderer = null;
        if (this.view?.isMounted()) this.loadClientRenderer();
      }, RETRY_MS);
    }
  }

  async loadPayload(dependencies, name) {
    const { address, token } = this.source;
    const headers = { "X-SeqViz-Session": token, "X-SeqViz-Payload": name };
    const response = await fetch(`${address}?${queryKey(dependencies)}`, { credentials: "omit", cache: "no-store", headers });
    if (response.status !== 200) throw new Error(response.status);
    return response.json();
  }

  // A response of the client renderer; null where the server must respond.
  renderInBrowser(values) {
    const { client_renderer: rendererSource, bench: prefix } = this.source;
    if (!rendererSource || !this.clientRenderer?.renderer) return null;
    const dependencies = Object.entries(values).filter(([key]) => rendererSource.dependencies.includes(key));
    if (queryKey(Object.fromEntries(dependencies)) !== this.clientRenderer.key) return null;
    const ownValues = Object.entries(values).filter(([key]) => key.startsWith(`${prefix}.`));
    const rendered = this.clientRenderer.renderer.render(
      Object.fromEntries(ownValues.map(([key, text]) => [key.slice(prefix.length + 1), text])),
    );
    if (rendered === null) return null;
    return `${JSON.stringify({ ...rendered.metadata, layout_signature: this.layoutSignature })}\n${JSON.stringify(rendered.figure)}`;
  }

  // After a commit, prefetch the neighboring values one by one. A busy server rejects this, and so does one
  // whose page is still loading.
  async prefetch(key, texts) {
    this.prefetching?.abort();
    if (this.clientRenderer?.renderer || this.isFollower) return;
    const { signal } = (this.prefetching = new AbortController());
    const pause = () => new Promise((resolve) => setTimeout(resolve, IDLE_MS));
    const remaining = texts.filter((text) => !this.prefetched.has(queryKey({ ...this.source?.query, [key]: text })));
    try {
      await pause();
      for (let tries = 0; remaining.length > 0 && tries < MAX_PREFETCH_TRIES && !signal.aborted; ) {
        const source = this.source;
        const values = { ...source.query, [key]: remaining[0] };
        const answer = await this.fetchAnswer(source, values, { "X-SeqViz-Prefetch": "1" }, signal);
        if (answer === null || this.source !== source) {
          tries += 1;
          await pause();
          continue;
        }
        if (!metadata(answer).is_transient) this.prefetched.set(queryKey(values), answer);
        if (this.prefetched.size > MAX_PREFETCHED) this.prefetched.delete(this.prefetched.keys().next().value);
        remaining.shift();
      }
    } catch {
      // Aborted by the next input, or requested then.
    }
  }

  // The response, or null where there is none.
  async fetchAnswer({ address, token, typed = [] }, values, headers, signal) {
    const knownArrays = this.arrays;
    const entries = Object.entries(values);
    const textValues = entries.filter(([key]) => typed.includes(key));
    const otherValues = Object.fromEntries(entries.filter(([key]) => !typed.includes(key)));
    const response = await fetch(`${address}?${queryKey(otherValues)}`, {
      credentials: "omit",
      cache: "no-store",
      headers: {
        "X-SeqViz-Session": token,
        "X-SeqViz-Known-Arrays": [...knownArrays.keys()].join(),
        ...(textValues.length > 0 && { "X-SeqViz-Live-Text": encodeURIComponent(JSON.stringify(Object.fromEntries(textValues))) }),
        ...headers,
      },
      signal,
    });
    return response.status === 200 ? this.mergeArrays(await response.text(), knownArrays) : null;
  }

  // The query of these values, independent of how numbers are written and without defaults.
  normalizedKey(values) {
    const normalized = { ...values };
    for (const [key, { slider }] of this.controls) {
      const text = normalized[key] ?? null, start = slider.options?.start;
      if (text === null || sameValue(text, start)) delete normalized[key];
      else if (Number.isFinite(Number(text))) normalized[key] = Number(text);
    }
    return queryKey(normalized);
  }

  // A broadcast frame for this query, unpacked only if the teacher's values lead to it.
  offerFrame(query, unpack) {
    this.offered = { key: this.normalizedKey(query), unpack };
  }

  async takeOffered(values) {
    if (this.offered?.key !== this.normalizedKey(values)) return null;
    try {
      return this.mergeArrays(await this.offered.unpack(), new Map());
    } catch {
      return null; // request it instead
    }
  }

  // Tell the chips of the bench which step the frame on screen belongs to.
  reportFrame() {
    if (this.overlay?.key === queryKey(this.currentQuery())) this.steps?.onFrame(metadata(this.overlay.answer).step);
  }

  async request() {
    if (this.busy || !this.isDirty || !this.source?.address) return;
    const values = this.currentQuery();
    const rendered = this.renderInBrowser(values);
    if (rendered !== null) {
      this.isDirty = false;
      if (this.view.isMounted()) this.paint(rendered, values);
      this.idleCallbacks.splice(0).forEach((resolve) => resolve());
      return;
    }
    this.busy = true;
    this.isDirty = false;
    const source = this.source;
    const slow = setTimeout(() => this.view.setWaiting(true), SLOW_MS);
    const aborter = new AbortController();
    const timeout = setTimeout(() => aborter.abort(), REQUEST_TIMEOUT_MS);
    const { isDragging } = this;
    this.inFlight = { abort: () => aborter.abort(), isDragging };
    let answer = null; // the page says why, after the commit
    try {
      answer =
        (this.offered && (await this.takeOffered(values))) ??
        (await this.prefetched.get(queryKey(values))) ??
        (await this.fetchAnswer(source, values, isDragging ? { "X-SeqViz-Dragging": "1" } : {}, aborter.signal));
    } catch {
      // The connection is down, or the response came too late.
    }
    clearTimeout(slow);
    clearTimeout(timeout);
    this.busy = false;
    this.inFlight = null;
    // The page has rendered meanwhile, perhaps another figure: this response is outdated.
    const isOutdated = this.source !== source;
    if (isOutdated && this.pending.size > 0) this.isDirty = true;
    if (this.isDirty) this.request(); // the next request runs while this one is painted
    this.view.setWaiting(false);
    if (!isOutdated && answer !== null && this.view.isMounted()) this.paint(answer, values);
    if (!this.busy) this.idleCallbacks.splice(0).forEach((resolve) => resolve());
  }

  paint(answer, values) {
    try {
      this.view.paint(answer);
    } catch {
      return; // a proxy has answered in place of the server
    }
    this.overlay = { key: queryKey(values), answer };
    this.reportFrame();
    if (this.isAtPageValue) this.restore();
    this.frames.push({ at: performance.now(), values });
    if (this.frames.length > 500) this.frames.splice(0, 250);
  }
}

// Text typed into a field of the page: the figure follows, and the page receives the text when it is
// committed, as always. During composition (Chinese input) the text is incomplete and ignored.
function withTextInput(event, callback) {
  if (!(event.target instanceof HTMLInputElement) || event.isComposing) return;
  for (const bench of benches.values())
    for (const key of bench.source?.typed ?? [])
      if (event.target.closest(`.st-key-${key.replaceAll(".", "-")}`)) callback(bench, key, event.target.value);
}

const onTextInput = (event) => withTextInput(event, (bench, key, text) => bench.onTextInput(key, text));
const onTextCommit = (event) => withTextInput(event, (bench, key) => bench.markReported(key));

// A field takes the beginning of a text that is too long; Streamlit would refuse all of a paste.
function limitText({ target }) {
  if (!(target instanceof HTMLInputElement)) return;
  for (const bench of benches.values())
    for (const [key, limit] of Object.entries(bench.source?.limits ?? {}))
      if (target.closest(`.st-key-${key.replaceAll(".", "-")}`)) target.maxLength = limit;
}

document.addEventListener("focusin", limitText);
document.addEventListener("input", onTextInput);
document.addEventListener("compositionend", onTextInput);
document.addEventListener("focusout", onTextCommit);
document.addEventListener("keydown", (event) => event.key === "Enter" && onTextCommit(event));

globalThis.seqvizLiveBench = liveBench; // for measuring from outside
