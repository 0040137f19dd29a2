// Sends a test message to a channel, and shows what came of it.

import { useState } from "preact/hooks";
import { call } from "../api/client.js";
import { failed } from "../kit/failed.js";
import { html } from "../kit/html.js";
import { Button } from "../parts/button.js";
import { Icon } from "../parts/icon.js";

/** @returns {Promise<import("telltale").ChannelTest>} */
async function test(id) {
  try {
    return await call("POST", `/channels/${encodeURIComponent(id)}/test`);
  } catch (thrown) {
    const failure = failed(thrown);
    return { success: false, error: failure.missingScope ? `your key lacks the scope “${failure.missingScope}”` : failure.message };
  }
}

export function TestChannel({ channel, onDone }) {
  const [result, setResult] = useState(/** @type {import("telltale").ChannelTest | null} */ (null));
  const [isRunning, setRunning] = useState(false);
  const work = async () => {
    setRunning(true);
    setResult(null);
    try {
      setResult(await test(channel.id));
    } finally {
      setRunning(false);
    }
    onDone?.();
  };
  return html`<span class="tested"><${Button} label=${`Test ${channel.name}`} work=${work}><${Icon} name="send" />${isRunning ? "Sending…" : "Test"}<//>
    <span role="status" class=${`small ${result && !result.success ? "wrong" : ""}`}>${result && html`<${Icon} name=${result.success ? "circle-check" : "triangle-alert"} /> ${result.success ? result.message : result.error}`}</span></span>`;
}
