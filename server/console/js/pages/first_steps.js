// Commands that send the first data to this server, open while it has none.

import { get } from "../api/client.js";
import { html } from "../kit/html.js";
import { useLoaded } from "../kit/loading.js";
import { Copyable } from "../parts/copy.js";
import { Icon } from "../parts/icon.js";

const STEPS = [
  {
    title: "Send a metric",
    path: "/api/v1/metrics",
    body: { name: "web.requests", type: "counter", value: 1, tags: { host: "a" } },
  },
  { title: "Record an event", path: "/api/v1/events", body: { name: "user.signed_up", user_id: "42", properties: { plan: "pro" } } },
  { title: "Report an error", path: "/api/v1/errors", body: { exception: { type: "PaymentError", message: "the card was declined" }, level: "error" } },
];

function command({ path, body }) {
  return `curl ${location.origin}${path} -H "Authorization: Bearer $KEY" --json '${JSON.stringify(body)}'`;
}

/** Returns whether all metrics are those that the server writes about itself. */
async function hasOnlyOwnMetrics(abort) {
  const paths = ["/metrics?limit=1", "/metrics?limit=1&prefix=telltale."];
  const [all, own] = await Promise.all(paths.map((path) => get(path, abort)));
  return all.meta.total === own.meta.total;
}

export function FirstSteps() {
  const [state] = useLoaded(hasOnlyOwnMetrics);
  const isNew = state.value.data;
  if (isNew === undefined) return null;
  return html`<section class="card full">
    <details open=${isNew}>
      <summary><${Icon} name="terminal" /><h2>First steps</h2></summary>
      <ol class="steps">
        <li><p>Make a key with the scope <code>ingest</code> in the settings, and set it in a shell:</p>
          <${Copyable} text="KEY=tt_…" label="the variable with the key" /></li>
        ${STEPS.map((step) => html`<li key=${step.path}><h3>${step.title}</h3><${Copyable} text=${command(step)} label=${step.title} /></li>`)}
        <li><p>Everything else: <a href="/docs">the documentation of the API</a>.</p></li>
      </ol>
    </details>
  </section>`;
}
