// Bookmarks as one HTML page or one notebook. Nothing that was typed becomes markup or code.

const STYLE = "body{font:16px/1.5 sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem}img{max-width:100%}article{margin:2rem 0}a{overflow-wrap:anywhere}";

// The address of a bookmark in the app.
export function addressOf({ lesson, bench, values }, lang) {
  const query = new URLSearchParams({ lang, ...values });
  return new URL(`${lesson}?${query}#bench-${bench}`, location.href.split("?")[0]).href;
}

// A page that needs no network.
export function toPage(items, lang, { words }) {
  const page = document.implementation.createHTMLDocument(words.heading);
  page.documentElement.lang = lang;
  const add = (parent, name, properties) => parent.appendChild(Object.assign(page.createElement(name), properties));
  const charset = page.createElement("meta");
  charset.setAttribute("charset", "utf-8");
  page.head.prepend(charset);
  add(page.head, "style", { textContent: STYLE });
  add(page.body, "h1", { textContent: words.heading });
  for (const item of items) {
    const article = add(page.body, "article", {});
    add(article, "h2", { textContent: item.title });
    if (item.picture) add(article, "img", { src: item.picture, alt: item.title });
    if (item.note) add(article, "p", { textContent: item.note });
    const address = addressOf(item, lang);
    add(add(article, "p", {}), "a", { href: address, textContent: address });
  }
  return `<!DOCTYPE html>\n${page.documentElement.outerHTML}`;
}

// Character references, which no Markdown reads as markup.
const escapeMarkdown = (text) => text.replace(/\s+/g, " ").replace(/[^\p{L}\p{M}\p{N}\s,;:?'"%/()]/gu, (sign) => `&#${sign.codePointAt(0)};`);

// A notebook: for each bookmark its title, note and address, and the call that computes it anew. A JSON
// object of strings is a Python literal, too.
export function toNotebook(items, lang, { words, setup }) {
  const markdown = (source) => ({ cell_type: "markdown", metadata: {}, source });
  const code = (source, picture = "") => {
    const data = { "image/png": picture.split(",")[1] };
    const outputs = picture ? [{ output_type: "display_data", metadata: {}, data }] : [];
    return { cell_type: "code", execution_count: null, metadata: {}, source, outputs };
  };
  const cells = [markdown(`# ${words.heading}\n\n${setup}`), code("from seqviz import lessons")];
  for (const item of items) {
    const parts = [`## ${escapeMarkdown(item.title)}`, escapeMarkdown(item.note), `<${addressOf(item, lang)}>`];
    cells.push(markdown(parts.filter(Boolean).join("\n\n")));
    const call = `bench.run(bench.parse_link(${JSON.stringify(item.values)}), ${JSON.stringify(lang)})`;
    cells.push(code(`bench = lessons.${item.lesson}.lesson.benches["${item.bench}"]\n${call}`, item.picture));
  }
  const metadata = { kernelspec: { name: "python3", display_name: "Python 3", language: "python" }, language_info: { name: "python" } };
  return JSON.stringify({ cells, metadata, nbformat: 4, nbformat_minor: 4 }, null, 1);
}
