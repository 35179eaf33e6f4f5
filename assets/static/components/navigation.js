// From page to page in one step of the browser's history. Streamlit alone makes several: it empties the address of the page
// that is left, or goes to the next one without its settings, and fills in what is missing. So the address to go to is
// there before it goes (seqviz/ui/page/navigation.py knows it). Links that would load the app anew are followed in it, as its
// session has what cannot stand in an address: a file of one's own, answers.

const ROOT = new URL(import.meta.url).pathname.replace(/app\/static\/.*$/, "");
const MENU = 'a[data-testid^="stTopNav"], a[data-testid^="stSidebarNav"]'; // Streamlit goes there itself
const EVERYWHERE = ["lang", "present"]; // on the address of every page
const SETTING = /^[a-z]{2}\.(?!part$)/;
let ways = { pages: {}, previous: "", next: "" };

export function known(told) {
  ways = told;
}

const pageOf = ({ origin, pathname }) =>
  origin === location.origin && pathname.startsWith(ROOT) ? pathname.slice(ROOT.length) : null;
const connected = () => document.querySelector(".stApp")?.dataset.testConnectionState === "CONNECTED";

// Where a link leads within this session: to the settings that it has, else to those that its page was left with. null: out
// of the app, or nowhere else.
function leads(url) {
  const page = pageOf(url);
  if (!(page in ways.pages) || page === pageOf(location) || !connected()) return null;
  const own = [...url.searchParams.keys()].some((key) => SETTING.test(key));
  const others = [...url.searchParams].filter(([key]) => !EVERYWHERE.includes(key));
  const query = own ? [url.search.slice(1)] : [ways.pages[page], new URLSearchParams(others).toString()];
  const embedded = [...new URLSearchParams(location.search)].filter(([key]) => /^embed(_options)?$/.test(key));
  const whole = [new URLSearchParams(embedded).toString(), ...query].filter(Boolean).join("&");
  return `${url.pathname}${whole && `?${whole}`}${url.hash}`;
}

// A page begins at its top, or at the bench that its link names.
function step(address) {
  history.pushState({}, "", address);
  document.querySelector('[data-testid="stMain"]')?.scrollTo(0, 0);
}

// Streamlit goes where the address says, as it does for "back".
function go(address) {
  step(address);
  window.dispatchEvent(new PopStateEvent("popstate", { state: history.state }));
}

// Open an address of the app, in this session where that is possible.
export function open(href) {
  const address = leads(new URL(href, location.href));
  if (address === null) location.assign(href);
  else go(address);
}

function follow(event) {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const door = event.target.closest?.(".st-key-go-next button, .st-key-go-previous button");
  const link = event.target.closest?.("a[href]");
  if (!door && (!link || link.target === "_blank" || link.hasAttribute("download"))) return;
  const page = door?.closest(".st-key-go-next") ? ways.next : ways.previous;
  const address = leads(new URL(door ? ROOT + page : link.href, location.href));
  if (address === null || link?.ariaDisabled === "true") return;
  if (link?.matches(MENU)) return step(address);
  event.preventDefault();
  event.stopPropagation();
  go(address);
}

window.addEventListener("click", follow, true);
