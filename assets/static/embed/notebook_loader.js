// Loader in each notebook bench (seqviz/export/notebook_widget.py) for the script that all share.
//
// The script is in a separate widget model, so a saved notebook contains it once. Where a front end
// does not provide another widget's model, the kernel is asked for it.

const scripts = (globalThis.seqvizScripts ??= new Map());

function requestScript(model) {
  return new Promise((resolve) => {
    model.on("msg:custom", (message) => message.packed && resolve(message.packed));
    model.send({ wants: "script" });
  });
}

async function loadScript(model) {
  let packed;
  try {
    packed = (await model.widget_manager.get_model(model.get("script").replace("IPY_MODEL_", ""))).get("packed");
  } catch {
    packed = await requestScript(model);
  }
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const address = URL.createObjectURL(new Blob([await new Response(unpacked).blob()], { type: "text/javascript" }));
  return (await import(address)).default;
}

async function render(context) {
  const version = context.model.get("version");
  if (!scripts.has(version)) scripts.set(version, loadScript(context.model));
  try {
    return (await scripts.get(version)).render(context);
  } catch (error) {
    scripts.delete(version); // the next bench tries anew
    throw error;
  }
}

export default { render };
