// A figure in another site's page that has to wait for others: it is asked for again by itself.

const seconds = Number(document.body.dataset.seconds);
// A class opens its course page at one moment: spread out, so that not all ask at the same one again.
setTimeout(() => location.reload(), 1000 * seconds * (0.5 + Math.random()));
