// Navigation in one step of the browser's history. Streamlit alone makes several: it clears the
// query of the page that is left, or opens the next page without its settings, and adds them later.
// So the target URL is set before the navigation (from seqviz/ui/page/navigation.py). Links that
// would reload the app are followed within the session, which holds what a URL cannot: uploaded
// files, answers.

const ROOT = new URL(import.meta.url).pathname.replace(/app\/static\/.*$/, "");
const MENU_LINKS = 'a[data-testid^="stTopNav"], a[data-testid^="stSidebarNav"]'; // Streamlit goes there itself
const GLOBAL_PARAMETERS = ["lang", "present"]; // on the address of every page
const SETTING = /^[a-z]{2}\.(?!part$)/;
let routes = { pages: {}, previous: "", next: "" };

export function setRoutes(newRoutes) {
  routes = newRoutes;
}

const pageOf = ({ origin, pathname }) =>
  origin === location.origin && pathname.startsWith(ROOT) ? pathname.slice(ROOT.length) : null;
const isConnected = () => document.querySelector(".stApp")?.dataset.testConnectionState === "CONNECTED";

// The target of a link within this session: its own settings, else those that its page was left with.
// null: outside the app, or unknown.
function resolve(url) {
  const page = pageOf(url);
  if (!(page in routes.pages) || page === pageOf(location) || !isConnected()) return null;
  const hasSettings = [...url.searchParams.keys()].some((key) => SETTING.test(key));
  const otherParameters = [...url.searchParams].filter(([key]) => !GLOBAL_PARAMETERS.includes(key));
  const query = hasSettings ? [url.search.slice(1)] : [routes.pages[page], new URLSearchParams(otherParameters).toString()];
  const embedded = [...new URLSearchParams(location.search)].filter(([key]) => /^embed(_options)?$/.test(key));
  const queryString = [new URLSearchParams(embedded).toString(), ...query].filter(Boolean).join("&");
  return `${url.pathname}${queryString && `?${queryString}`}${url.hash}`;
}

// A page opens at its top, or at the bench that its link names.
function pushAddress(address) {
  history.pushState({}, "", address);
  document.querySelector('[data-testid="stMain"]')?.scrollTo(0, 0);
}

// Streamlit follows the URL, as after "back".
function go(address) {
  pushAddress(address);
  window.dispatchEvent(new PopStateEvent("popstate", { state: history.state }));
}

// Open a URL of the app, within this session where possible.
export function open(href) {
  const address = resolve(new URL(href, location.href));
  if (address === null) location.assign(href);
  else go(address);
}

function onClick(event) {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const pageButton = event.target.closest?.(".st-key-go-next button, .st-key-go-previous button");
  const link = event.target.closest?.("a[href]");
  if (!pageButton && (!link || link.target === "_blank" || link.hasAttribute("download"))) return;
  const page = pageButton?.closest(".st-key-go-next") ? routes.next : routes.previous;
  const address = resolve(new URL(pageButton ? ROOT + page : link.href, location.href));
  if (address === null || link?.ariaDisabled === "true") return;
  if (link?.matches(MENU_LINKS)) return pushAddress(address);
  event.preventDefault();
  event.stopPropagation();
  go(address);
}

window.addEventListener("click", onClick, true);
