// The folders and files of a repository, of which the API has one list by path.

import { get } from "../api/client.js";
import { apiOf } from "./code_words.js";

const ROWS = 500;
const REQUESTS_MAX = 60;

const listApi = (id, prefix, offset, limit) => apiOf(id, `/files?${new URLSearchParams({ prefix, offset, limit })}`);

/**
 * Returns what a folder contains, whose path ends with a slash or is empty: `{commit, total, folders:
 * [{name, files}], files, isCut}`. Folders with many files are counted, and their files skipped.
 */
export async function readFolder(id, prefix, abort) {
  const folders = new Map();
  const files = [];
  let [offset, total, commit] = [0, 0, ""];
  for (let requests = 0; requests < REQUESTS_MAX; ) {
    const page = await get(listApi(id, prefix, offset, ROWS), abort);
    requests += 1;
    ({ total, commit } = page);
    let last = "";
    for (const file of page.files) {
      const rest = file.file_path.slice(prefix.length);
      const slash = rest.indexOf("/");
      last = slash < 0 ? "" : rest.slice(0, slash);
      if (slash < 0) files.push(file);
      else folders.set(last, (folders.get(last) ?? 0) + 1);
    }
    offset += page.files.length;
    if (offset >= total || page.files.length === 0) return result(false);
    if (last) {
      const whole = await get(listApi(id, `${prefix}${last}/`, 0, 1), abort);
      requests += 1;
      offset += whole.total - folders.get(last);
      folders.set(last, whole.total);
      if (offset >= total) return result(false);
    }
  }
  return result(true);

  function result(isCut) {
    return { commit, total, isCut, files, folders: [...folders].map(([name, count]) => ({ name, files: count })) };
  }
}
