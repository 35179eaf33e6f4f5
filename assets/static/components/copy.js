// Over plain http, as in a classroom's network, a browser gives scripts no clipboard, and in a frame it may refuse
// it: what copies (`st.code`, tables) would do nothing. Then a selection is copied instead; and where the browser
// does not do that either, the text stays selected and a line says which keys copy it.

const SAID_MS = 10_000;
const APPLE = /Mac|iPhone|iPad|iPod/.test(navigator.platform);
let words = {};
let pressed = null; // what was clicked last
let said = null; // the line on the page

// Whether the browser has copied this text, as if it had been selected.
function copySelected(text) {
  const selection = getSelection(), focused = document.activeElement;
  const before = Array.from({ length: selection.rangeCount }, (_, at) => selection.getRangeAt(at));
  const field = Object.assign(document.createElement("textarea"), { value: text, readOnly: true });
  field.setAttribute("aria-hidden", "true");
  field.style = "position: fixed; top: 0; opacity: 0; font-size: 16px"; // smaller ones a phone zooms in on
  let heard = false;
  const put = (event) => {
    event.clipboardData?.setData("text/plain", text); // a dialog may have taken the focus from the field
    event.preventDefault();
    event.stopImmediatePropagation();
    heard = true;
  };
  window.addEventListener("copy", put, true);
  document.body.append(field);
  field.select();
  let copied = false;
  try {
    copied = document.execCommand("copy");
  } catch {
    // it is not allowed to
  }
  window.removeEventListener("copy", put, true);
  field.remove();
  focused?.focus?.({ preventScroll: true });
  selection.removeAllRanges();
  before.forEach((range) => selection.addRange(range));
  return copied && heard;
}

// Select the text of the box whose button was pressed, and say how to copy it.
function askForKeys() {
  const box = pressed?.closest?.(".stCode")?.querySelector("pre");
  if (!box) return;
  getSelection().selectAllChildren(box);
  const touch = matchMedia("(pointer: coarse)").matches;
  said ??= Object.assign(document.createElement("p"), { className: "seqviz-copy" });
  said.setAttribute("role", "status");
  said.style.colorScheme = getComputedStyle(document.querySelector(".stApp")).colorScheme;
  document.body.append(said);
  said.textContent = touch ? words.copy_touch : words.copy_keys.replace("{keys}", APPLE ? "⌘ C" : "Ctrl+C");
  const end = new AbortController();
  const over = () => {
    end.abort();
    said.remove();
  };
  for (const kind of ["copy", "pointerdown"]) window.addEventListener(kind, over, { signal: end.signal, capture: true });
  setTimeout(over, SAID_MS);
}

// told: the words for it, in the language of the page. What is lent stays with the page.
export function lendClipboard(told) {
  words = told;
  if (navigator.clipboard?.lent) return;
  const own = navigator.clipboard;
  const given = own?.writeText?.bind(own);
  const writeText = async (text) => {
    try {
      if (given) return await given(text);
    } catch {
      // refused, as in a frame
    }
    if (copySelected(String(text))) return;
    askForKeys();
    throw new DOMException("This browser lets no script copy.", "NotAllowedError");
  };
  if (own) Object.assign(own, { writeText, lent: true });
  else Object.defineProperty(navigator, "clipboard", { value: { writeText, lent: true }, configurable: true });
  window.addEventListener("click", ({ target }) => (pressed = target), true);
}
