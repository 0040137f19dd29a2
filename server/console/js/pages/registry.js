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
  { path: "/settings", label: "Settings", icon: "settings", keys: "g s", areas: ["console"], load: () => import("./settings.js") },
];

/** Returns the pages that a server with these areas has. */
export function pagesOf(areas) {
  return PAGES.filter((page) => page.areas.length === 0 || page.areas.some((area) => areas.includes(area)));
}
