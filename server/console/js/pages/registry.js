// The pages, in the order of the navigation. A page is there if the server has one of its areas. One
// with `below` is reached from another one; `styles` are style sheets that only it needs.

export const PAGES = [
  { path: "/", label: "Home", icon: "house", keys: "g h", areas: [], load: () => import("./home.js") },
  { path: "/explore", label: "Explore", icon: "chart-line", keys: "g x", areas: ["metrics"], styles: ["explore"], load: () => import("./explore.js") },
  { path: "/events", label: "Events", icon: "zap", keys: "g e", areas: ["events"], styles: ["explore"], load: () => import("./events.js") },
  { path: "/dashboards", label: "Dashboards", icon: "layout-dashboard", keys: "g d", areas: ["dashboards"], styles: ["dashboards"], load: () => import("./dashboards.js") },
  { path: "/dashboards/:id", below: "/dashboards", label: "Dashboard", areas: ["dashboards"], styles: ["dashboards"], load: () => import("./dashboards_detail.js") },
  { path: "/errors", label: "Errors", icon: "circle-alert", keys: "g r", areas: ["errors"], styles: ["operations"], load: () => import("./errors.js") },
  { path: "/errors/:id", label: "Error", areas: ["errors"], below: "/errors", styles: ["operations"], load: () => import("./errors_detail.js") },
  { path: "/jobs", label: "Jobs", icon: "layers", keys: "g j", areas: ["queues"], styles: ["operations"], load: () => import("./jobs.js") },
  { path: "/jobs/:id", label: "Job", areas: ["queues"], below: "/jobs", styles: ["operations"], load: () => import("./jobs_detail.js") },
  { path: "/alerts", label: "Alerts", icon: "bell", keys: "g a", areas: ["alerts"], styles: ["watch"], load: () => import("./alerts.js") },
  { path: "/alerts/rules", below: "/alerts", areas: ["alerts"], styles: ["watch"], load: () => import("./alerts_rules.js") },
  { path: "/alerts/rules/:id", below: "/alerts", areas: ["alerts"], styles: ["watch"], load: () => import("./alerts_rule.js") },
  { path: "/alerts/windows", below: "/alerts", areas: ["alerts"], styles: ["watch"], load: () => import("./alerts_windows.js") },
  { path: "/alerts/windows/:id", below: "/alerts", areas: ["alerts"], styles: ["watch"], load: () => import("./alerts_window.js") },
  { path: "/alerts/channels", below: "/alerts", areas: ["alerts"], styles: ["watch"], load: () => import("./alerts_channels.js") },
  { path: "/alerts/channels/:id", below: "/alerts", areas: ["alerts"], styles: ["watch"], load: () => import("./alerts_channel.js") },
  { path: "/alerts/policies", below: "/alerts", areas: ["alerts"], styles: ["watch"], load: () => import("./alerts_policies.js") },
  { path: "/alerts/policies/:id", below: "/alerts", areas: ["alerts"], styles: ["watch"], load: () => import("./alerts_policy.js") },
  { path: "/alerts/:id", below: "/alerts", areas: ["alerts"], styles: ["watch"], load: () => import("./alerts_detail.js") },
  { path: "/on-call", label: "On-call", icon: "calendar", keys: "g o", areas: ["on_call_schedules"], styles: ["watch"], load: () => import("./on_call.js") },
  { path: "/on-call/:id", below: "/on-call", areas: ["on_call_schedules"], styles: ["watch"], load: () => import("./on_call_schedule.js") },
  { path: "/on-call/:id/edit", below: "/on-call", areas: ["on_call_schedules"], styles: ["watch"], load: () => import("./on_call_form.js") },
  { path: "/status", label: "Status", icon: "globe", keys: "g t", areas: ["monitors", "status_pages"], styles: ["watch"], load: () => import("./status.js") },
  { path: "/status/monitors/:id", below: "/status", areas: ["monitors"], styles: ["watch"], load: () => import("./status_monitor.js") },
  { path: "/status/monitors/:id/edit", below: "/status", areas: ["monitors"], styles: ["watch"], load: () => import("./status_monitor_form.js") },
  { path: "/status/pages", below: "/status", areas: ["status_pages"], styles: ["watch"], load: () => import("./status_pages.js") },
  { path: "/status/pages/:id", below: "/status", areas: ["status_pages"], styles: ["watch"], load: () => import("./status_page.js") },
  { path: "/status/pages/:id/edit", below: "/status", areas: ["status_pages"], styles: ["watch"], load: () => import("./status_page_form.js") },
  { path: "/status/pages/:id/incidents/:incident", below: "/status", areas: ["status_pages"], styles: ["watch"], load: () => import("./status_incident.js") },
  { path: "/snapshots", label: "Snapshots", icon: "camera", keys: "g n", areas: ["snapshots"], styles: ["snapshots"], load: () => import("./snapshots.js") },
  { path: "/snapshots/:id", below: "/snapshots", areas: ["snapshots"], styles: ["snapshots"], load: () => import("./snapshots_review.js") },
  { path: "/snapshots/captures/:id", below: "/snapshots", areas: ["snapshots"], styles: ["snapshots"], load: () => import("./snapshots_capture.js") },
  { path: "/snapshots/pages/:id", below: "/snapshots", areas: ["snapshots"], styles: ["snapshots"], load: () => import("./snapshots_history.js") },
  { path: "/code", label: "Code", icon: "code", keys: "g c", areas: ["repositories"], styles: ["code"], load: () => import("./code.js") },
  { path: "/code/:id", below: "/code", areas: ["repositories"], styles: ["code"], load: () => import("./code_ask.js") },
  { path: "/code/:id/search", below: "/code", areas: ["repositories"], styles: ["code"], load: () => import("./code_search.js") },
  { path: "/code/:id/files", below: "/code", areas: ["repositories"], styles: ["code"], load: () => import("./code_files.js") },
  { path: "/code/:id/files/*path", below: "/code", areas: ["repositories"], styles: ["code"], load: () => import("./code_file.js") },
  { path: "/code/:id/wiki", below: "/code", areas: ["repositories"], styles: ["code"], load: () => import("./code_wiki.js") },
  { path: "/code/:id/wiki/:slug", below: "/code", areas: ["repositories"], styles: ["code"], load: () => import("./code_wiki.js") },
  { path: "/code/:id/diagrams", below: "/code", areas: ["repositories"], styles: ["code"], load: () => import("./code_diagrams.js") },
  { path: "/code/:id/settings", below: "/code", areas: ["repositories"], styles: ["code"], load: () => import("./code_settings.js") },
  { path: "/settings", label: "Settings", icon: "settings", keys: "g s", areas: ["console"], load: () => import("./settings.js") },
];

/** Returns the pages that a server with these areas has. */
export function pagesOf(areas) {
  return PAGES.filter((page) => page.areas.length === 0 || page.areas.some((area) => areas.includes(area)));
}
