// Makes a status page or changes one: its addresses, and how it looks.

import { useState } from "preact/hooks";
import { call, etagOf, get } from "../api/client.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { go } from "../kit/router.js";
import { toast } from "../kit/toasts.js";
import { Check, Field } from "../parts/fields.js";
import { FormEnd, useDraft, useGuardedSave } from "../parts/form.js";
import { Head } from "../parts/head.js";
import { Failure } from "../parts/loaded.js";
import { Pick } from "../parts/pick.js";
import { loadMonitors } from "./status.js";
import { targetOf } from "./status_words.js";

/** @import { StatusPage } from "telltale" */

const COLOUR = "#0b6e6e";
const pathOf = (id) => /** @type {const} */ (`/status-pages/${encodeURIComponent(id)}`);

/** @param {StatusPage | null} page */
function draftOf(page) {
  const { logo_url: logo, primary_color: colour } = page?.branding ?? {};
  return { name: page?.name ?? "", subdomain: page?.subdomain ?? "", custom_domain: page?.custom_domain ?? "", logo_url: logo ?? "", hasColour: Boolean(colour), primary_color: colour ?? COLOUR, monitors: [] };
}

function pageOf(draft, isNew) {
  const page = {
    name: draft.name, subdomain: draft.subdomain.trim(), custom_domain: draft.custom_domain.trim() || null,
    branding: { logo_url: draft.logo_url.trim() || null, primary_color: draft.hasColour ? draft.primary_color : null },
  };
  return isNew ? { ...page, monitors: draft.monitors } : page;
}

function Form({ page, etag, monitors, onTheirs }) {
  const isNew = !page;
  const [draft, set] = useDraft(draftOf(page));
  const mine = pageOf(draft, isNew);
  const send = async (ifMatch) => {
    const saved = await call(isNew ? "POST" : "PUT", isNew ? "/status-pages" : pathOf(page.id), { body: mine, ifMatch });
    toast(isNew ? "The status page is made." : "The status page is saved.");
    go(`/status/pages/${encodeURIComponent(saved.id)}`);
  };
  const load = async () => {
    const answer = await get(pathOf(page.id));
    return { value: answer, etag: etagOf(answer) };
  };
  const saving = useGuardedSave({ etag, before: page ?? {}, mine, send, load, onTheirs });
  const { failure } = saving;
  const text = (name, field = name) => ({ id: `page-${name}`, name: field, value: draft[name], failure, autocomplete: "off", spellcheck: false, onInput: (event) => set({ [name]: event.currentTarget.value }) });
  return html`<form class="card stack narrow" ref=${saving.form} onSubmit=${saving.submit} novalidate>
    <${Field} label="Name" maxlength="200" ...${text("name")} />
    <${Field} label="Subdomain" hint=${`Always found at ${location.origin}/status/${draft.subdomain || "…"}`} ...${text("subdomain")} />
    <${Field} label="Custom domain" hint="Such as status.example.com; it must lead to this server" ...${text("custom_domain")} />
    <${Field} label="URL of the logo" hint="The browsers of visitors load it" ...${text("logo_url", "branding.logo_url")} />
    <${Check} label="A colour of its own" checked=${draft.hasColour} onChange=${(event) => set({ hasColour: event.currentTarget.checked })} />
    ${draft.hasColour && html`<div class="colours"><input type="color" aria-label="Choose the colour" value=${/^#[0-9a-f]{6}$/i.test(draft.primary_color) ? draft.primary_color : COLOUR} onInput=${(event) => set({ primary_color: event.currentTarget.value })} />
      <${Field} label="Colour" hint="Such as #0b6e6e" ...${text("primary_color", "branding.primary_color")} /></div>`}
    ${isNew && html`<${Pick} name="monitors" label="Monitors, in the order in which they are ticked" none="There are no monitors yet." items=${monitors.map((one) => ({ id: one.id, label: one.name, about: targetOf(one) }))} chosen=${draft.monitors} failure=${failure}
      onChange=${(chosen) => set({ monitors: chosen })} />`}
    <${FormEnd} saving=${saving} act=${isNew ? "Make the page" : "Save"} onCancel=${() => go(isNew ? "/status/pages" : `/status/pages/${encodeURIComponent(page.id)}`)} />
    ${saving.conflict}
  </form>`;
}

async function loadAll(id, abort) {
  if (id === "new") return { page: null, monitors: await loadMonitors(abort) };
  const answer = await get(pathOf(id), abort);
  return { page: answer, etag: etagOf(answer), monitors: [] };
}

export function Page({ params }) {
  const isNew = params.id === "new";
  const [version, setVersion] = useState(0);
  const [state, again] = useLoaded((abort) => loadAll(params.id, abort));
  const { data, failure } = state.value;
  const onTheirs = async () => {
    await again();
    setVersion((before) => before + 1);
  };
  const above = data?.page ? { path: `/status/pages/${encodeURIComponent(data.page.id)}`, label: data.page.name } : { path: "/status/pages", label: "Status pages" };
  const head = html`<${Head} title=${isNew ? "New status page" : "Edit the status page"} above=${above} />`;
  if (!data) return html`${head}${failure ? html`<${Failure} failure=${failure} />` : html`<p class="quiet" role="status">Loading…</p>`}`;
  return html`${head}<${Form} key=${version} page=${data.page} etag=${data.etag} monitors=${data.monitors} onTheirs=${onTheirs} />`;
}
