// Synchronize the URL of a Space's page with the app in its frame. The frame receives the page's
// query string once, when it loads, and only at the app's root; so report every change of a setting
// to the page, and open the lesson that a link names. Texts of a reader stay in the frame's own URL
// (`parent_guard.js`).

const SYNC_MS = 250;
const STORAGE_KEY = "seqviz.parent";
let timer;

// The site around the frame, or null. Not every browser lists it; it is the referrer of the first page only.
function parentOrigin() {
  let origin = location.ancestorOrigins?.[0];
  try {
    if (!origin && document.referrer) origin = new URL(document.referrer).origin;
    if (origin && origin !== location.origin) sessionStorage.setItem(STORAGE_KEY, origin);
    else origin = sessionStorage.getItem(STORAGE_KEY) ?? origin;
  } catch {
    // a browser without storage in frames: the page's own state must suffice
  }
  return origin && origin !== "null" ? origin : null;
}

// The settings in the URL without the site's own (__theme, __sign), plus the lesson's name, which is the path here.
function parentQuery() {
  const slug = location.pathname.split("/").pop();
  const settings = window.seqvizSettings(location.search.slice(1)).split("&");
  const ownSettings = settings.filter((part) => part !== "" && !part.startsWith("__") && !part.startsWith("lesson="));
  return (slug === "" ? ownSettings : [`lesson=${slug}`, ...ownSettings]).join("&");
}

// `/?lesson=attention&...` opens that lesson with these settings. Returns whether the page is about to change.
function openNamedLesson() {
  const named = location.search.slice(1).split("&").find((part) => part.startsWith("lesson="));
  const slug = named?.slice("lesson=".length);
  if (!location.pathname.endsWith("/") || !/^[a-z0-9_]+$/.test(slug ?? "")) return false;
  const others = location.search.slice(1).split("&").filter((part) => part !== named);
  location.replace(location.pathname + slug + (others.length ? `?${others.join("&")}` : ""));
  return true;
}

export function stopSync() {
  clearInterval(timer);
}

export function startSync(isConnected) {
  clearInterval(timer);
  if (openNamedLesson() || window.parent === window) return;
  const origin = parentOrigin();
  if (origin === null) return;
  let reported = null;
  timer = setInterval(() => {
    if (!isConnected()) return clearInterval(timer);
    const queryString = parentQuery();
    if (queryString === reported) return;
    reported = queryString;
    window.parent.postMessage({ queryString, hash: "" }, origin);
  }, SYNC_MS);
}
