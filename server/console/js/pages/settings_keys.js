// The keys of the server: list, make, revoke.

import { useState } from "preact/hooks";
import { call, get } from "../api/client.js";
import { caller, may } from "../api/session.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { Button } from "../parts/button.js";
import { Confirm } from "../parts/confirm.js";
import { Copyable } from "../parts/copy.js";
import { Dialog } from "../parts/dialog.js";
import { Icon } from "../parts/icon.js";
import { Loaded } from "../parts/loaded.js";
import { Table } from "../parts/table.js";
import { Time } from "../parts/time.js";
import { NewKey } from "./settings_new_key.js";

/** @import { Key, NewKeyAnswer } from "telltale" */

/**
 * Returns the address that Sentry SDKs take.
 * @param {string} key
 */
function dsnOf(key) {
  const [, id, secret] = /^tt_([^_]+)_(.+)$/.exec(key) ?? [];
  return id ? `${location.protocol}//${id}:${secret}@${location.host}/1` : null;
}

/** @param {Props<{made: NewKeyAnswer}>} props */
function MadeKey({ made, onClose }) {
  const dsn = made.scopes.includes("ingest") ? dsnOf(made.key ?? "") : null;
  return html`<${Dialog} title="The key was made" onClose=${onClose}>
    <div class="stack">
      <p>It is shown only now: the server keeps its hash, not the key.</p>
      <${Copyable} text=${made.key} label="the key" />
      ${dsn && html`<div class="field"><p class="legend">As a DSN for Sentry SDKs</p><${Copyable} text=${dsn} label="the DSN" /></div>`}
      <div class="acts"><${Button} kind="first" work=${onClose}>Done<//></div>
    </div>
  <//>`;
}

/** @returns {Column<Key>[]} */
function columnsOf(onRevoke) {
  const isOwn = (item) => item.id === caller.value?.key?.id;
  return [
    { label: "Name", cell: (item) => html`<span><strong>${item.name}</strong>${isOwn(item) && html` <span class="tag">yours</span>`}</span>` },
    { label: "User", cell: (item) => item.user },
    { label: "Scopes", cell: (item) => html`<span class="tags">${item.scopes.map((scope) => html`<span class="tag" key=${scope}>${scope}</span>`)}
      ${item.public_ingest && html`<span class="tag warn">public</span>`}</span>` },
    { label: "Last used", cell: (item) => html`<${Time} at=${item.last_used_at} />` },
    { label: "Actions", isEnd: true, isUnseen: true, cell: (item) => (item.revoked_at ? html`<span class="tag bad">revoked</span>`
      : html`<${Button} kind="plain" label=${`Revoke the key ${item.name}`} work=${() => onRevoke(item)}><${Icon} name="trash-2" />Revoke<//>`) },
  ];
}

export function Keys() {
  const [state, again] = useLoaded((abort) => get("/keys?limit=200", abort));
  const [open, setOpen] = useState(/** @type {{isNew?: boolean, made?: NewKeyAnswer, revoked?: Key}} */ ({}));
  const close = () => setOpen({});
  const columns = columnsOf((item) => setOpen({ revoked: item }));
  const onMade = (made) => {
    setOpen({ made });
    again();
  };
  const revoke = async () => {
    if (open.revoked) await call("DELETE", `/keys/${encodeURIComponent(open.revoked.id)}`);
    again();
  };
  const isOwn = open.revoked?.id === caller.value?.key?.id;
  return html`<section class="card"><header><${Icon} name="key-round" /><h2>Keys</h2>
      ${may("admin") && html`<${Button} work=${() => setOpen({ isNew: true })}><${Icon} name="plus" />New key<//>`}</header>
    <${Loaded} state=${state} show=${({ data }) => html`<${Table} label="Keys" columns=${columns} rows=${data} keyOf=${({ id }) => id} />`} />
    ${open.isNew && html`<${NewKey} onMade=${onMade} onClose=${close} />`}
    ${open.made && html`<${MadeKey} made=${open.made} onClose=${close} />`}
    ${open.revoked && html`<${Confirm} title="Revoke the key?" act="Revoke" work=${revoke} onClose=${close}>
      <p>Programs that use <strong>${open.revoked.name}</strong> (${open.revoked.user}) are refused from then on, and its sessions end. It cannot be undone.</p>
      ${isOwn && html`<p class="wrong">It is the key that you are signed in with.</p>`}
    <//>`}
  </section>`;
}
