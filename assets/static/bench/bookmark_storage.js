// Bookmarks in this browser's storage. What is read may be forged, so every part is checked.

const KEY = "seqviz.bookmarks";
export const NOTE_LIMIT = 200; // characters
const ITEM_LIMIT = 24;
const STORED_LIMIT = 1_500_000; // characters of all bookmarks
const TITLE_LIMIT = 120;
const PICTURE_LIMIT = 150_000;
const VALUE_LIMIT = 10_000;
const SETTINGS_LIMIT = 60;
const NAME = /^\w{1,40}$/;
const SETTING = /^[a-z]{2}\.[a-z_0-9.]{1,60}$/;
const PICTURE = /^data:image\/png;base64,[A-Za-z0-9+/=]+$/;

const text = (value, limit) => (typeof value === "string" ? value.slice(0, limit) : "");

const isSetting = ([key, value]) => SETTING.test(key) && typeof value === "string" && value.length <= VALUE_LIMIT;

// A bookmark { id, lesson, bench, values, title, note, picture } with valid parts only; null without a place.
function checked(item) {
  if (![item?.lesson, item?.bench, item?.id].every((name) => typeof name === "string" && NAME.test(name))) return null;
  const values = Object.entries(item.values ?? {}).filter(isSetting);
  const hasPicture = typeof item.picture === "string" && item.picture.length <= PICTURE_LIMIT && PICTURE.test(item.picture);
  return {
    id: item.id, lesson: item.lesson, bench: item.bench, values: Object.fromEntries(values.slice(0, SETTINGS_LIMIT)),
    title: text(item.title, TITLE_LIMIT), note: text(item.note, NOTE_LIMIT), picture: hasPicture ? item.picture : "",
  };
}

export function readBookmarks() {
  try {
    const stored = JSON.parse(localStorage.getItem(KEY));
    return Array.isArray(stored) ? stored.slice(0, ITEM_LIMIT).map(checked).filter(Boolean) : [];
  } catch {
    return [];
  }
}

// Return "" or why nothing was written: "full" or "denied".
function write(items) {
  const json = JSON.stringify(items);
  if (items.length > ITEM_LIMIT || json.length > STORED_LIMIT) return "full";
  try {
    localStorage.setItem(KEY, json);
    return "";
  } catch (error) {
    return error.name === "QuotaExceededError" ? "full" : "denied";
  }
}

export function addBookmark(item) {
  return write([...readBookmarks(), checked(item)].filter(Boolean));
}

export const removeBookmark = (id) => write(readBookmarks().filter((item) => item.id !== id));
export const annotateBookmark = (id, note) => write(readBookmarks().map((item) => (item.id === id ? { ...item, note: text(note, NOTE_LIMIT) } : item)));
