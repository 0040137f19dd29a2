// The types of channels: what they deliver to, and what their configuration has.

/** @import { Channel } from "telltale" */

/** `fields`: names in `config`, where `recipients` and `headers` have fields of their own. */
export const CHANNEL_TYPES = {
  team_chat_a: { icon: "message-square", about: "Chats with incoming webhooks as Slack has them", fields: ["webhook_url"] },
  team_chat_b: { icon: "message-square", about: "Chats with webhooks as Discord has them", fields: ["webhook_url"] },
  team_chat_c: { icon: "message-square", about: "Chats with workflows that accept adaptive cards, as Teams has them", fields: ["webhook_url"] },
  paging_a: { icon: "siren", about: "Paging services with the Events API v2 of PagerDuty", fields: ["routing_key"] },
  paging_b: { icon: "siren", about: "Paging services with the Alert API of Opsgenie", fields: ["api_key", "api_url"] },
  email: { icon: "mail", about: "Email", fields: ["recipients"] },
  webhook: { icon: "webhook", about: "An HTTP endpoint of yours, with signed requests", fields: ["webhook_url", "headers", "signing_secret"] },
};

export const FIELD_LABELS = {
  webhook_url: ["URL", "Shown redacted once it is saved"],
  routing_key: ["Routing key", "Shown redacted once it is saved"],
  api_key: ["API key", "Shown redacted once it is saved"],
  api_url: ["API URL", "Empty: the default of the service"],
  signing_secret: ["Signing secret", "Empty: the server makes one and shows it once"],
};

/**
 * Returns the draft of a channel, or of a new one.
 * @param {Channel | null} channel
 */
export function draftOf(channel) {
  const { webhook_url: url, routing_key: routing, api_key: key, api_url: api, recipients, headers, signing_secret: secret } = channel?.config ?? {};
  return {
    name: channel?.name ?? "", channel_type: channel?.channel_type ?? "team_chat_a", enabled: channel?.enabled ?? true,
    webhook_url: url ?? "", routing_key: routing ?? "", api_key: key ?? "", api_url: api ?? "", signing_secret: secret ?? "",
    recipients: (recipients ?? []).join("\n"), headers: Object.entries(headers ?? {}).map(([name, value]) => ({ name, value })),
  };
}

const valueOf = {
  recipients: (draft) => draft.recipients.split("\n").map((one) => one.trim()).filter(Boolean),
  headers: (draft) => Object.fromEntries(draft.headers.filter(({ name }) => name.trim()).map(({ name, value }) => [name.trim(), value])),
  api_url: (draft) => draft.api_url.trim() || null,
};

/** Returns the configuration of a draft; of a channel that exists, secrets are sent as they were shown. */
function configOf(draft, isNew) {
  const config = {};
  for (const field of CHANNEL_TYPES[draft.channel_type]?.fields ?? []) {
    if (field === "signing_secret" && (!isNew || !draft.signing_secret)) continue;
    config[field] = valueOf[field] ? valueOf[field](draft) : draft[field].trim();
  }
  return config;
}

/** Returns the channel as the API takes it. */
export function channelOf(draft, isNew) {
  const { name, enabled } = draft;
  const config = configOf(draft, isNew);
  return isNew ? { name, enabled, channel_type: draft.channel_type, config } : { name, enabled, config };
}
