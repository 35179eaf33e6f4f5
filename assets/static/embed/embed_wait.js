// Reload an embedded page that the server could not render yet.

const seconds = Number(document.body.dataset.seconds);
// A class opens its course page at one moment: the delay spreads the reloads.
setTimeout(() => location.reload(), 1000 * seconds * (0.5 + Math.random()));
