// Uses the types that openapi-typescript generates from the OpenAPI document. It is compiled and not run: code that the types
// must refuse is marked, and a mark without a refusal is an error too.
import type { components, operations, paths } from "./api";

type Schemas = components["schemas"];
type Answer<Path extends keyof paths, Method extends keyof paths[Path], Status extends number> = paths[Path][Method] extends {
  responses: { [status in Status]: { content: { "application/json": infer Body } } };
}
  ? Body
  : never;

const gauge: Schemas["NumberMetricInput"] = { name: "cpu.usage", type: "gauge", value: 42.5, tags: { host: "web-1" } };
const member: Schemas["SetMetricInput"] = { name: "users", type: "set", value: "ann" };
export const batch: Schemas["MetricBatchInput"] = { metrics: [gauge, member] };

// @ts-expect-error `value` is required
export const without: Schemas["NumberMetricInput"] = { name: "cpu.usage", type: "gauge" };
// @ts-expect-error there is no such type
export const strange: Schemas["NumberMetricInput"] = { name: "cpu.usage", type: "thermometer", value: 1 };

export const job: Schemas["JobInput"] = { class_name: "SendMail" };
// @ts-expect-error a job has a class
export const nameless: Schemas["JobInput"] = { queue: "mails" };
export const patch: Schemas["DashboardPatch"] = { description: null };
// @ts-expect-error a dashboard always has a name
export const cleared: Schemas["DashboardPatch"] = { name: null };

export function rejected(answer: Answer<"/api/v1/metrics/batch", "post", 200>): string[] {
  // The list is absent if nothing was rejected.
  return (answer.data.errors ?? []).map((error) => `${error.index}: ${error.code}`);
}

export function page(answer: Answer<"/api/v1/metrics", "get", 200>): [string[], number] {
  return [answer.data.map((metric) => metric.name), answer.meta.total];
}

export function whatWentWrong(answer: Answer<"/api/v1/metrics/{name}/query", "get", 404>): string {
  return answer.error.details?.field ?? answer.error.message;
}

export const asked: operations["get_api_v1_metrics_name_query"]["parameters"] = {
  path: { name: "cpu.usage" },
  query: { from: "now-1h", interval: "1m", tags: { host: "web-1" } },
};

// An optional body may be absent.
export const resolve: operations["post_api_v1_errors_id_resolve"] extends { requestBody?: infer _Body } ? true : false = true;
