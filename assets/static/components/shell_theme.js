// Inline in the page, behind what stands in for it (`shell.js`), which gets its theme before anything
// is painted: the reader's choice, which Streamlit keeps for this address, else the system's. Where
// the script that shows the page cannot be loaded, the page shows itself.

{
  const first = document.getElementById("seqviz-first");
  const chosen = () => {
    const key = Object.keys(localStorage).find((one) => one.startsWith(`stActiveTheme-${location.pathname}-v`));
    return /dark|light/i.exec(key && localStorage.getItem(key))?.[0].toLowerCase();
  };
  let theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  try {
    theme = chosen() ?? theme;
  } catch {
    // A frame that may keep nothing.
  }
  first.classList.add(theme);
  const set = () => first.classList.add("set"); // in another font its lines would break elsewhere
  document.fonts.load('1rem "Source Sans"').then(set, set);
  addEventListener("error", ({ target }) => target.matches?.("#seqviz-first ~ script") && first.remove(), true);
  setTimeout(() => first.remove(), 20_000); // whatever there is of the page then
}
