// The indexed files of a repository, folder by folder.

import { amount, bytes, count } from "../kit/format.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { href, inQuery } from "../kit/router.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { Table } from "../parts/table.js";
import { CodeFrame, useRepository } from "./code_frame.js";
import { readFolder } from "./code_tree.js";
import { fileLink, FilePath, pathOf } from "./code_words.js";

const folderLink = (id, prefix) => href(pathOf(id, "/files"), { folder: prefix });

/** The folders above a path, as links. */
export function Crumbs({ id, path, name }) {
  const parts = path.split("/").filter(Boolean);
  const folders = parts.map((part, i) => ({ part, prefix: `${parts.slice(0, i + 1).join("/")}/` }));
  return html`<nav class="crumbs" aria-label="Folders"><ol><li><a href=${folderLink(id, "")}>All files</a></li>
    ${folders.map(({ part, prefix }, i) => html`<li key=${prefix}>${!name && i === folders.length - 1 ? html`<span aria-current="page">${part}</span>` : html`<a href=${folderLink(id, prefix)}>${part}</a>`}</li>`)}
    ${name && html`<li><span aria-current="page">${name}</span></li>`}</ol></nav>`;
}

function columnsOf(id, prefix) {
  const cell = (row) => (row.files !== undefined
    ? html`<a class="entry" href=${folderLink(id, `${prefix}${row.name}/`)}><${Icon} name="folder" /><${FilePath} path=${`${row.name}/`} /></a>`
    : html`<a class="entry" href=${fileLink(id, row.file_path)}><${Icon} name="file-text" /><${FilePath} path=${row.file_path.slice(prefix.length)} /></a>`);
  return [
    { label: "Name", cell },
    { label: "Language", cell: (row) => row.language ?? null },
    { label: "Lines", isNumber: true, cell: (row) => (row.files !== undefined ? count(row.files, "file") : amount(row.lines)) },
    { label: "Size", isNumber: true, cell: (row) => (row.files !== undefined ? null : bytes(row.bytes)) },
  ];
}

function Folder({ id }) {
  const wanted = inQuery("folder");
  const prefix = wanted && !wanted.endsWith("/") ? `${wanted}/` : wanted;
  const [state] = useLoaded((abort) => readFolder(id, prefix, abort), 0, prefix);
  const show = ({ folders, files, total, isCut, commit }) => html`<div class="card">
      <${Table} label="Files" columns=${columnsOf(id, prefix)} rows=${[...folders, ...files]} keyOf=${(row) => row.file_path ?? row.name} /></div>
    <p class="quiet small">${isCut ? "The folder has more than is shown here: search for what is missing. " : ""}${count(total, "indexed file")} at <span class="mono">${commit}</span>. What the patterns in the settings leave out, and binary files, are not there.</p>`;
  const empty = { is: ({ total }) => total === 0, text: "No indexed file is in this folder." };
  return html`<${Crumbs} id=${id} path=${prefix} /><${Loaded} state=${state} show=${show} empty=${empty} />`;
}

export function Page({ params: { id } }) {
  const loaded = useRepository(id);
  return html`<${CodeFrame} id=${id} view="files" title="Files" loaded=${loaded} show=${() => html`<${Folder} key=${inQuery("folder")} id=${id} />`} />`;
}
