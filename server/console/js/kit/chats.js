// The chat sessions that were begun in this browser: the API lists none, and knows them by their id.

const STORED = "telltale.chats";
const KEPT = 50;

function read() {
  try {
    const list = JSON.parse(localStorage.getItem(STORED) ?? "[]");
    return Array.isArray(list) ? list.filter((one) => one && typeof one.id === "string") : [];
  } catch {
    return [];
  }
}

const write = (list) => localStorage.setItem(STORED, JSON.stringify(list.slice(0, KEPT)));

/** Returns the sessions about a repository, the one used last first: `[{id, repository, title, at}]`. */
export const chatsOf = (repository) => read().filter((one) => one.repository === repository);

/** Remembers a session that was used; its title is its first question. */
export function remember(id, repository, title) {
  const list = read();
  const known = list.find((one) => one.id === id);
  write([{ id, repository, title: known?.title ?? title.slice(0, 200), at: Date.now() }, ...list.filter((one) => one.id !== id)]);
}

/** Forgets a session. */
export const forget = (id) => write(read().filter((one) => one.id !== id));
