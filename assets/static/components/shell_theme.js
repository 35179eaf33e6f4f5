// Theme of the shell (`shell.js`), inline after it, so that it is set before the first paint: the
// reader's choice, which Streamlit stores for this URL, else the system's. Where the script that
// reveals the page cannot be loaded, this one reveals it.

{
  const shell = document.getElementById("seqviz-shell");
  const chosenTheme = () => {
    const key = Object.keys(localStorage).find((name) => name.startsWith(`stActiveTheme-${location.pathname}-v`));
    return /dark|light/i.exec(key && localStorage.getItem(key))?.[0].toLowerCase();
  };
  let theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  try {
    theme = chosenTheme() ?? theme;
  } catch {
    // A frame without storage.
  }
  shell.classList.add(theme);
  const showShell = () => shell.classList.add("set"); // in another font its lines would break elsewhere
  document.fonts.load('1rem "Source Sans"').then(showShell, showShell);
  addEventListener("error", ({ target }) => target.matches?.("#seqviz-shell ~ script") && shell.remove(), true);
  setTimeout(() => shell.remove(), 20_000); // whatever there is of the page then
}
