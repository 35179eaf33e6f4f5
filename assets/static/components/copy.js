// Copying without a clipboard: over plain http, as in a classroom's network, browsers give scripts
// no clipboard, and in a frame they may refuse it, so copy buttons (`st.code`, tables) would do
// nothing. Then a selection is copied; where that fails, too, the text stays selected and a line
// names the keys.

const HINT_MS = 10_000;
const APPLE = /Mac|iPhone|iPad|iPod/.test(navigator.platform);
let words = {};
let lastClicked = null; // what was clicked last
let hint = null; // the line on the page

// Return whether the browser has copied this text by a selection.
function copySelected(text) {
  const selection = getSelection(), focused = document.activeElement;
  const ranges = Array.from({ length: selection.rangeCount }, (_, index) => selection.getRangeAt(index));
  const field = Object.assign(document.createElement("textarea"), { value: text, readOnly: true });
  field.setAttribute("aria-hidden", "true");
  field.style = "position: fixed; top: 0; opacity: 0; font-size: 16px"; // smaller ones a phone zooms in on
  let wasHandled = false;
  const put = (event) => {
    event.clipboardData?.setData("text/plain", text); // a dialog may have taken the focus from the field
    event.preventDefault();
    event.stopImmediatePropagation();
    wasHandled = true;
  };
  window.addEventListener("copy", put, true);
  document.body.append(field);
  field.select();
  let copied = false;
  try {
    copied = document.execCommand("copy");
  } catch {
    // not permitted
  }
  window.removeEventListener("copy", put, true);
  field.remove();
  focused?.focus?.({ preventScroll: true });
  selection.removeAllRanges();
  ranges.forEach((range) => selection.addRange(range));
  return copied && wasHandled;
}

// Select the text of the box whose button was pressed, and show how to copy it.
function showKeyHint() {
  const box = lastClicked?.closest?.(".stCode")?.querySelector("pre");
  if (!box) return;
  getSelection().selectAllChildren(box);
  const touch = matchMedia("(pointer: coarse)").matches;
  hint ??= Object.assign(document.createElement("p"), { className: "seqviz-copy" });
  hint.setAttribute("role", "status");
  hint.style.colorScheme = getComputedStyle(document.querySelector(".stApp")).colorScheme;
  document.body.append(hint);
  hint.textContent = touch ? words.copy_touch : words.copy_keys.replace("{keys}", APPLE ? "⌘ C" : "Ctrl+C");
  const closing = new AbortController();
  const removeHint = () => {
    closing.abort();
    hint.remove();
  };
  for (const kind of ["copy", "pointerdown"]) window.addEventListener(kind, removeHint, { signal: closing.signal, capture: true });
  setTimeout(removeHint, HINT_MS);
}

// newWords: labels in the language of the page. The installed clipboard stays as long as the page.
export function installClipboard(newWords) {
  words = newWords;
  if (navigator.clipboard?.isSeqviz) return;
  const clipboard = navigator.clipboard;
  const nativeWrite = clipboard?.writeText?.bind(clipboard);
  const writeText = async (text) => {
    try {
      if (nativeWrite) return await nativeWrite(text);
    } catch {
      // rejected, as in a frame
    }
    if (copySelected(String(text))) return;
    showKeyHint();
    throw new DOMException("This browser lets no script copy.", "NotAllowedError");
  };
  if (clipboard) Object.assign(clipboard, { writeText, isSeqviz: true });
  else Object.defineProperty(navigator, "clipboard", { value: { writeText, isSeqviz: true }, configurable: true });
  window.addEventListener("click", ({ target }) => (lastClicked = target), true);
}
