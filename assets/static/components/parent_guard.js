// Guard of messages to the page around the app, inline before Streamlit's scripts
// (`index_page.script`). Streamlit posts its complete query string, and the URL of failed requests,
// to any page that frames the app. That page may receive settings, but no text of a reader. TEXTS,
// defined before this script, lists the parameters that are texts (`tools/text_parameters.py`).

const texts = new Set(TEXTS.split(" "));
// Streamlit's messages that pass unchanged. Failures are not among them: their URLs name a session or a file.
const allowedTypes = new Set([
  "GUEST_READY",
  "SCRIPT_RUN_STATE_CHANGED",
  "SET_APP_PAGES",
  "SET_CURRENT_PAGE_NAME",
  "SET_PAGE_FAVICON",
  "SET_PAGE_TITLE",
  "SET_THEME_CONFIG",
  "WEBSOCKET_CONNECTED",
  "WEBSOCKET_DISCONNECTED",
  "[iFrameResizerChild]Ready",
]);

// Return a query string without texts. Names are decoded as the server does: `at%2Ereal.encoder` is one, too.
window.seqvizSettings = (query) => {
  const [, questionMark, parameters] = /^(\??)(.*)$/s.exec(query);
  const isText = (part) => [...new URLSearchParams(part).keys()].some((name) => texts.has(name));
  const allowed = parameters.split("&").filter((part) => !isText(part));
  return allowed.length ? questionMark + allowed.join("&") : "";
};

// Return what the surrounding page receives in place of a message; null: nothing.
const filterMessage = (message) => {
  for (const field of ["queryParams", "queryString"]) {
    if (typeof message?.[field] === "string") return { ...message, [field]: seqvizSettings(message[field]) };
  }
  return allowedTypes.has(message?.type ?? message) ? message : null;
};

// The window of another site cannot be changed, `parent` can. Streamlit compares it with the sender of a message,
// so it receives nothing from the surrounding page, either.
if (window.parent !== window) {
  const outer = window.parent;
  window.parent = {
    postMessage(message, ...where) {
      const filtered = filterMessage(message);
      if (filtered !== null) outer.postMessage(filtered, ...where);
    },
  };
}
