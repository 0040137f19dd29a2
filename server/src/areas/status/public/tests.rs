//! Tests of the HTML pages with a real HTML parser: whatever is in a field, it stays text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use scraper::{ElementRef, Html, Selector};
use sha2::{Digest as _, Sha256};

use super::message::{Message, Site};
use super::model::{ComponentStatus, PageStatus, PublicBranding, PublicPage};
use super::{examples, html, message};

const MESSAGES: [Message<'static>; 6] = [
    Message::CheckMailbox,
    Message::AskConfirm { token: "to-ken_1" },
    Message::Confirmed,
    Message::AskUnsubscribe { token: "to-ken_1" },
    Message::Unsubscribed,
    Message::LinkInvalid,
];

fn elements(parsed: &Html) -> impl Iterator<Item = ElementRef<'_>> {
    parsed.root_element().descendants().filter_map(ElementRef::wrap)
}

/// Returns all elements in their order, with the names of their attributes.
fn structure(text: &str) -> Vec<String> {
    let parsed = Html::parse_document(text);
    elements(&parsed)
        .map(|element| {
            let mut attributes: Vec<&str> = element.value().attrs().map(|(name, _)| name).collect();
            attributes.sort_unstable();
            format!("{} {}", element.value().name(), attributes.join(" "))
        })
        .collect()
}

/// Fails if a browser would run something, or load or link to anything that is not of the page.
#[track_caller]
fn assert_inert(text: &str) {
    let parsed = Html::parse_document(text);
    for element in elements(&parsed) {
        let name = element.value().name();
        let active = ["script", "iframe", "object", "embed", "base", "template", "animate", "math"];
        assert!(!active.contains(&name), "<{name}>");
        for (attribute, value) in element.value().attrs() {
            assert!(!attribute.starts_with("on") && attribute != "style", "{attribute}={value}");
            if ["href", "src", "action", "formaction", "xlink:href"].contains(&attribute) {
                let is_of_page = ["/status/acme", "#"].iter().any(|start| value.starts_with(start));
                assert!(is_of_page, "{attribute}={value}");
            }
        }
    }
}

/// Returns the texts of the elements that a selector finds, with single spaces.
fn texts(page: &PublicPage, selector: &str) -> Vec<String> {
    let parsed = Html::parse_document(&html::page(page).unwrap().text);
    let selector = Selector::parse(selector).unwrap();
    let text = |element: ElementRef<'_>| {
        let text: String = element.text().collect();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    parsed.select(&selector).map(text).collect()
}

fn attributes(page: &PublicPage, selector: &str, name: &str) -> Vec<String> {
    let parsed = Html::parse_document(&html::page(page).unwrap().text);
    let selector = Selector::parse(selector).unwrap();
    parsed.select(&selector).filter_map(|element| element.attr(name)).map(str::to_owned).collect()
}

#[test]
fn whatever_is_in_a_field_the_page_has_the_same_elements() {
    let expected = structure(&html::page(&examples::page("Shop")).unwrap().text);
    assert!(expected.len() > 300, "{}", expected.len());
    for text in examples::hostile() {
        let rendered = html::page(&examples::page(&text)).unwrap();
        assert_inert(&rendered.text);
        assert_eq!(structure(&rendered.text), expected, "{text:?}");
    }
}

#[test]
fn a_string_is_shown_as_it_is() {
    let text = "<b>&amp; \"quotes\" 'and' `more`</b> 漢字";
    let page = examples::page(text);
    for selector in ["h1", "article h3", "article h4", ".text", ".line strong", ".list h3"] {
        let shown = texts(&page, selector);
        assert!(!shown.is_empty() && shown.iter().all(|one| one == text), "{selector}: {shown:?}");
    }
    assert_eq!(texts(&page, "title"), [format!("Partial outage – {text}")]);
}

#[test]
fn whatever_the_name_is_a_small_page_has_the_same_elements() {
    for what in MESSAGES {
        let render = |text: &str| {
            let branding = PublicBranding {
                logo_url: Some(text.to_owned()),
                primary_color: Some(text.to_owned()),
            };
            let site = Site { name: text, base_path: "/status/acme", branding: &branding };
            message::message(what, &site).unwrap().text
        };
        let expected = structure(&render("Shop"));
        for text in examples::hostile() {
            let rendered = render(&text);
            assert_inert(&rendered);
            assert_eq!(structure(&rendered), expected, "{what:?}: {text:?}");
        }
    }
    for token in examples::hostile() {
        let branding = PublicBranding::default();
        let site = Site { name: "Shop", base_path: "/status/acme", branding: &branding };
        let what = Message::AskConfirm { token: &token };
        assert_inert(&message::message(what, &site).unwrap().text);
    }
}

#[test]
fn small_pages_are_not_indexed_and_have_at_most_one_form() {
    let branding = PublicBranding::default();
    let site = Site { name: "Shop", base_path: "", branding: &branding };
    let pages = MESSAGES.map(|what| message::message(what, &site).unwrap().text);
    let actions: Vec<_> = pages
        .iter()
        .map(|text| {
            let parsed = Html::parse_document(text);
            let of = |selector, attribute| {
                let selector = Selector::parse(selector).unwrap();
                let element = parsed.select(&selector).next();
                element.and_then(|element| element.attr(attribute)).map(str::to_owned)
            };
            assert_eq!(of("meta[name=robots]", "content").as_deref(), Some("noindex"));
            assert_eq!(of("main a", "href").as_deref(), Some("/"));
            assert_eq!(of("form", "method").as_deref().unwrap_or("post"), "post");
            of("form", "action")
        })
        .collect();
    let confirm = Some("/subscribers/to%2Dken%5F1/confirm".to_owned());
    let unsubscribe = Some("/subscribers/to%2Dken%5F1/unsubscribe".to_owned());
    assert_eq!(actions, [None, confirm, None, unsubscribe, None, None]);
}

#[test]
fn the_page_for_an_unknown_address_links_to_nothing() {
    let parsed = Html::parse_document(&message::not_found().unwrap().text);
    assert_eq!(parsed.select(&Selector::parse("a, form, img, header").unwrap()).count(), 0);
    assert_eq!(parsed.select(&Selector::parse("meta[name=robots]").unwrap()).count(), 1);
}

#[test]
fn the_policy_admits_the_style_of_the_page_and_nothing_else() {
    let mut page = examples::empty_page();
    page.branding.logo_url = Some("https://cdn.example/logo.svg".to_owned());
    page.branding.primary_color = Some("#FFD400".to_owned());
    let site = Site { name: &page.name, base_path: "", branding: &page.branding };
    let small = message::message(Message::Confirmed, &site).unwrap();
    for rendered in [html::page(&page).unwrap(), small] {
        let parsed = Html::parse_document(&rendered.text);
        let styles: Vec<_> = parsed
            .select(&Selector::parse("style").unwrap())
            .map(|style| style.text().collect::<String>())
            .collect();
        let [style] = styles.as_slice() else { panic!("{} styles", styles.len()) };
        let hash = STANDARD.encode(Sha256::digest(style));
        assert_eq!(
            rendered.policy,
            format!(
                "default-src 'none'; style-src 'sha256-{hash}'; img-src 'self' \
                 https://cdn.example; form-action 'self'; base-uri 'none'; frame-ancestors 'self'"
            )
        );
        assert!(style.contains("--brand:#ffd400;--on-brand:#000"));
    }
    assert_eq!(attributes(&page, ".logo", "src"), ["https://cdn.example/logo.svg"]);
}

#[test]
fn a_day_says_what_happened_and_is_a_tab_stop_if_something_did() {
    let page = examples::page("Login fails");
    let quiet = attributes(&page, ".list li:first-child .d i:not(.n)", "data-t");
    let no_data = attributes(&page, ".list li:first-child .d i.n", "data-t");
    let events = attributes(&page, ".list li:first-child .d b", "aria-label");
    assert_eq!((quiet.len(), quiet.first().unwrap().as_str()), (2 * 85, "5 October"));
    assert_eq!(no_data, ["29 December"; 2]);
    let expected = [
        "30 December: maintenance 1 h",
        "31 December: degraded 3 min",
        "1 January: incident “Login fails”",
        "2 January: down 14 min, incident “Login fails”, incident “Login fails”",
    ];
    assert_eq!(events, [expected, expected].concat());
    assert_eq!(attributes(&page, "[tabindex]", "tabindex"), ["0"; 8]);
    assert_eq!(
        texts(&page, ".list li p.hidden"),
        ["Last 90 days: problems on 3 days, maintenance on 1 day, no data for 1 day."; 2]
    );
}

#[test]
fn components_have_their_uptime_and_their_status_in_words() {
    let mut page = examples::page("API");
    page.groups[1].components[0].uptime_90d = None;
    page.groups[1].components[0].status = ComponentStatus::Unknown;
    page.groups[1].components[0].days.clear();
    assert_eq!(
        texts(&page, ".line"),
        ["API 99.981% uptime uptime in 90 days Major outage", "API No data yet"]
    );
    assert_eq!(texts(&page, ".list .d").len(), 1);
}

#[test]
fn incidents_are_open_or_under_the_day_of_their_start() {
    let page = examples::page("Login fails");
    assert_eq!(texts(&page, "#past .date, .date"), ["2 January 2026"]);
    let facts = texts(&page, ".facts");
    assert_eq!(
        facts,
        [
            "Major impact since 2 Jan 2026, 03:04 UTC",
            "Scheduled 2 Jan 2026, 03:04 UTC – 04:04 UTC",
            "Major impact 2 Jan 2026, 01:36 UTC, lasted 1 h 28 min",
        ]
    );
    assert_eq!(attributes(&page, "article", "id"), ["inc_1", "maint_1", "inc_2"]);
    assert_eq!(attributes(&page, "time", "datetime").first().unwrap(), "2026-01-02T03:04:05.678Z");
}

#[test]
fn an_empty_page_says_that_it_is_empty() {
    let page = examples::empty_page();
    assert_eq!(
        texts(&page, "h1, h2"),
        ["Acme", "All systems operational", "Components", "Past incidents"]
    );
    assert_eq!(
        texts(&page, "main section > p"),
        [
            "Updated 2 Jan 2026, 03:04 UTC",
            "There are no components yet.",
            "No incidents in the last 15 days."
        ]
    );
    assert_eq!(attributes(&page, "footer a", "href"), ["/history.atom", "/api/v1/status"]);
    assert_eq!(texts(&page, "form").len(), 0);
}

#[test]
fn headings_follow_each_other() {
    for page in [examples::page("Shop"), examples::empty_page(), examples::large_page(50)] {
        let parsed = Html::parse_document(&html::page(&page).unwrap().text);
        let mut last = 0;
        for heading in parsed.select(&Selector::parse("h1, h2, h3, h4").unwrap()) {
            let level: u32 = heading.value().name().trim_start_matches('h').parse().unwrap();
            assert!(level <= last + 1, "h{level} after h{last}");
            last = level;
        }
    }
}

#[test]
fn all_states_of_a_page_have_a_sign() {
    for status in [
        PageStatus::Operational,
        PageStatus::DegradedPerformance,
        PageStatus::PartialOutage,
        PageStatus::MajorOutage,
        PageStatus::UnderMaintenance,
    ] {
        let page = PublicPage { status, ..examples::empty_page() };
        let used = attributes(&page, ".banner use", "href");
        assert_eq!(used, [format!("#s-{}", status.as_str())]);
        let name = used[0].trim_start_matches('#').to_owned();
        assert_eq!(attributes(&page, "symbol", "id").iter().filter(|id| **id == name).count(), 1);
    }
}

#[test]
fn a_page_with_fifty_components_is_small() {
    let rendered = html::page(&examples::large_page(50)).unwrap();
    let parsed = Html::parse_document(&rendered.text);
    assert_eq!(parsed.select(&Selector::parse(".list .d > *").unwrap()).count(), 50 * 90);
    assert!(rendered.text.len() < 200_000, "{}", rendered.text.len());
}

#[test]
fn not_all_is_well_if_a_part_is_not_known() {
    let mut page = examples::page("Shop");
    page.status = PageStatus::Operational;
    let count: usize = page.groups.iter().map(|group| group.components.len()).sum();
    for (unknown, expected) in
        [(0, "All systems operational"), (1, "No known problems"), (count, "No data yet")]
    {
        let components = page.groups.iter_mut().flat_map(|group| &mut group.components);
        for (i, component) in components.enumerate() {
            component.status = match i < unknown {
                true => ComponentStatus::Unknown,
                false => ComponentStatus::Operational,
            };
        }
        assert_eq!(texts(&page, ".banner h2"), [expected]);
    }
}
