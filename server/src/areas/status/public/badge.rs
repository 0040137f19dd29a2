//! Badges in SVG for other websites and readmes: the status of a page, and the uptime of a
//! component. Also the icon of a page.
//!
//! The width of a text in the fonts of the viewer is unknown. It is estimated for Verdana, and the
//! text is fitted to the estimate.

use askama::Template;

use super::model::{ComponentStatus, PublicComponent, PublicPage};
use super::words::{self, Text};

/// Characters of a name that a badge shows.
const LABEL_CHARS_MAX: usize = 40;
/// Pixels on each side of a text, as in the template.
const PADDING: u32 = 6;

/// Characters by their width in Verdana at 11 pixels; capitals and others are in [`text_width`].
const WIDTHS: [(&str, u32); 6] = [
    ("ijl'|", 30),
    (" fIrt.,:;!()[]/\\-", 45),
    ("0123456789csxyzkv_J?", 64),
    ("abdeghnopquFLTE", 69),
    ("mwMW%@", 107),
    ("+<>=~#", 90),
];

#[derive(Template)]
#[template(path = "status/badge.svg")]
struct BadgeTemplate<'a> {
    label: &'a str,
    message: &'a str,
    /// The background of the message: white text on it has a contrast of at least 4.5.
    color: &'static str,
    width: u32,
    label_box: u32,
    label_width: u32,
    message_width: u32,
}

/// Renders the badge of a page: its name and its status.
pub(super) fn page_badge(page: &PublicPage) -> Result<String, askama::Error> {
    let status = page.overall();
    badge(&page.name, &status.label().to_lowercase(), color(status))
}

/// Renders the badge of a component: its name and its uptime in the last 90 days.
pub(super) fn component_badge(component: &PublicComponent) -> Result<String, askama::Error> {
    let (message, status) = match component.uptime_90d.filter(|uptime| uptime.is_finite()) {
        None => ("no data yet".to_owned(), ComponentStatus::Unknown),
        Some(uptime) => (words::percent(uptime), rating(uptime)),
    };
    badge(&component.name, &message, color(status))
}

/// Renders the icon of a page: a disc in the colour of its status.
pub(super) fn icon(page: &PublicPage) -> String {
    let color = color(page.overall());
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 16 16\"><circle cx=\"8\" cy=\"8\" \
         r=\"7\" fill=\"{color}\"/></svg>"
    )
}

fn badge(name: &str, message: &str, color: &'static str) -> Result<String, askama::Error> {
    let label = label(name);
    let (label_width, message_width) = (text_width(&label), text_width(message));
    let label_box = label_width + 2 * PADDING;
    let template = BadgeTemplate {
        label: &label,
        message,
        color,
        width: label_box + message_width + 2 * PADDING,
        label_box,
        label_width,
        message_width,
    };
    template.render()
}

/// Returns a name as badges show it: on one line, and not too long.
fn label(name: &str) -> String {
    let name = Text(name).to_string();
    let words: Vec<&str> = name.split_whitespace().collect();
    let name = words.join(" ");
    if name.chars().count() <= LABEL_CHARS_MAX {
        return if name.is_empty() { "status".to_owned() } else { name };
    }
    let start: String = name.chars().take(LABEL_CHARS_MAX - 1).collect();
    format!("{}…", start.trim_end())
}

/// Returns the status that has the same colour as an uptime, in percent.
fn rating(uptime: f64) -> ComponentStatus {
    match uptime {
        uptime if uptime >= 99.9 => ComponentStatus::Operational,
        uptime if uptime >= 99.0 => ComponentStatus::DegradedPerformance,
        uptime if uptime >= 95.0 => ComponentStatus::PartialOutage,
        _ => ComponentStatus::MajorOutage,
    }
}

fn color(status: ComponentStatus) -> &'static str {
    match status {
        ComponentStatus::Operational => "#16803c",
        ComponentStatus::DegradedPerformance => "#8f6000",
        ComponentStatus::PartialOutage => "#b84a00",
        ComponentStatus::MajorOutage => "#b91c2b",
        ComponentStatus::UnderMaintenance => "#1d5fd1",
        ComponentStatus::Unknown => "#656d76",
    }
}

/// Returns the estimated width of a text in pixels.
fn text_width(text: &str) -> u32 {
    let width = |c: char| {
        let known = WIDTHS.iter().find(|(characters, _)| characters.contains(c));
        match known {
            Some((_, tenths)) => *tenths,
            None if c.is_ascii() => 78,
            None if u32::from(c) < 0x0530 => 72,
            None => 110,
        }
    };
    text.chars().map(width).sum::<u32>().div_ceil(10).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::areas::status::public::examples;
    use crate::areas::status::public::model::PageStatus;

    #[track_caller]
    fn check(svg: &str, title: &str) {
        let parsed = roxmltree::Document::parse(svg).unwrap();
        let elements: Vec<_> = parsed
            .descendants()
            .filter(|node| node.is_element())
            .map(|e| e.tag_name().name())
            .collect();
        assert_eq!(elements, ["svg", "title", "rect", "path", "g", "text", "text"]);
        let root = parsed.root_element();
        assert_eq!(root.attribute("role"), Some("img"));
        assert_eq!(root.first_element_child().unwrap().text(), Some(title));
        let width: u32 = root.attribute("width").unwrap().parse().unwrap();
        assert!((60..600).contains(&width), "{width}");
    }

    #[test]
    fn a_badge_has_a_name_and_a_status() {
        let mut page = examples::empty_page();
        for (status, title) in [
            (PageStatus::Operational, "Acme: operational"),
            (PageStatus::DegradedPerformance, "Acme: degraded performance"),
            (PageStatus::PartialOutage, "Acme: partial outage"),
            (PageStatus::MajorOutage, "Acme: major outage"),
            (PageStatus::UnderMaintenance, "Acme: under maintenance"),
        ] {
            page.status = status;
            check(&page_badge(&page).unwrap(), title);
        }
    }

    #[test]
    fn the_badge_of_a_component_has_its_uptime() {
        let mut component = examples::page("API").groups[0].components[0].clone();
        for (uptime, title, color) in [
            (Some(100.0), "API: 100%", "#16803c"),
            (Some(99.899), "API: 99.899%", "#8f6000"),
            (Some(95.5), "API: 95.5%", "#b84a00"),
            (Some(12.0), "API: 12%", "#b91c2b"),
            (Some(f64::NAN), "API: no data yet", "#656d76"),
            (None, "API: no data yet", "#656d76"),
        ] {
            component.uptime_90d = uptime;
            let svg = component_badge(&component).unwrap();
            check(&svg, title);
            assert!(svg.contains(color), "{svg}");
        }
    }

    #[test]
    fn names_are_cut() {
        for (name, shown) in [
            ("", "status"),
            ("\0\u{202e}", "status"),
            ("  Acme\n\tCorp ", "Acme Corp"),
            (&"x".repeat(40), &"x".repeat(40)),
            (&"x".repeat(41), &format!("{}…", "x".repeat(39))),
            (&format!("{} y", "x".repeat(38)), &format!("{} y", "x".repeat(38))),
            (&format!("{} yz y", "x".repeat(38)), &format!("{}…", "x".repeat(38))),
        ] {
            assert_eq!(label(name), shown);
        }
    }

    #[test]
    fn names_stay_text() {
        for text in examples::hostile() {
            let page = examples::page(&text);
            check(&page_badge(&page).unwrap(), &format!("{}: partial outage", label(&text)));
            let component = &page.groups[0].components[0];
            check(&component_badge(component).unwrap(), &format!("{}: 99.981%", label(&text)));
        }
    }

    #[test]
    fn the_icon_is_an_image() {
        let icon = icon(&examples::empty_page());
        assert!(roxmltree::Document::parse(&icon).is_ok());
    }
}
