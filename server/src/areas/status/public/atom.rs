//! The Atom feed of a status page (RFC 4287): an entry for each incident and each maintenance.
//!
//! The ids of entries do not contain the URL of the page, so that nothing is new to readers when
//! the page moves to another host.

use askama::Template;
use sha2::{Digest as _, Sha256};

use super::model::{MaintenanceStatus, PublicIncident, PublicMaintenance, PublicPage};
use super::words::{self, Text};
use crate::platform::time;

#[derive(Template)]
#[template(path = "status/history.xml")]
struct FeedTemplate<'a> {
    name: Text<'a>,
    url: &'a str,
    updated: String,
    entries: Vec<Entry<'a>>,
}

struct Entry<'a> {
    /// The fragment of the page that shows it.
    id: &'a str,
    urn: String,
    title: String,
    published: String,
    updated: String,
    /// HTML; the feed contains it as text.
    content: String,
}

#[derive(Template)]
#[template(path = "status/history_entry.html")]
struct ContentTemplate<'a> {
    components: Vec<Text<'a>>,
    parts: Vec<Part<'a>>,
}

struct Part<'a> {
    heading: &'static str,
    time: String,
    text: Option<&'a str>,
}

/// Renders the feed, the entry that changed last first.
pub(super) fn feed(page: &PublicPage) -> Result<String, askama::Error> {
    let incidents = page.incidents.iter().map(incident_entry);
    let maintenances = page.maintenances.iter().map(maintenance_entry);
    let mut entries = incidents.chain(maintenances).collect::<Result<Vec<_>, _>>()?;
    entries.sort_by(|one, other| other.updated.cmp(&one.updated));
    let template = FeedTemplate {
        name: Text(&page.name),
        url: &page.absolute_url,
        updated: time::format(page.updated_at),
        entries,
    };
    template.render()
}

fn incident_entry(incident: &PublicIncident) -> Result<Entry<'_>, askama::Error> {
    let parts = incident.updates.iter().map(|update| Part {
        heading: update.status.label(),
        time: words::when(update.at).people,
        text: Some(&update.message),
    });
    let shortened =
        Part { heading: "Updates before these are not shown.", time: String::new(), text: None };
    let parts = parts.chain(incident.is_shortened.then_some(shortened));
    Ok(Entry {
        id: &incident.id,
        urn: urn(&incident.id),
        title: format!("{}: {}", incident.status.label(), Text(&incident.title)),
        published: time::format(incident.started_at),
        updated: time::format(incident.updated_at),
        content: content(&incident.components, parts.collect())?,
    })
}

fn maintenance_entry(maintenance: &PublicMaintenance) -> Result<Entry<'_>, askama::Error> {
    let (starts, ends) = (maintenance.starts_at, maintenance.ends_at);
    let part = Part {
        heading: maintenance.status.label(),
        time: format!("{} – {}", words::when(starts).people, words::until(starts, ends).people),
        text: maintenance.description.as_deref(),
    };
    // When it was planned is not public; its entry has the times that it takes place.
    let updated = match maintenance.status {
        MaintenanceStatus::Scheduled | MaintenanceStatus::InProgress => starts,
        MaintenanceStatus::Completed => ends,
    };
    Ok(Entry {
        id: &maintenance.id,
        urn: urn(&maintenance.id),
        title: format!("Maintenance: {}", Text(&maintenance.title)),
        published: time::format(starts),
        updated: time::format(updated),
        content: content(&maintenance.components, vec![part])?,
    })
}

fn content(components: &[String], parts: Vec<Part<'_>>) -> Result<String, askama::Error> {
    let components = components.iter().map(|name| Text(name)).collect();
    ContentTemplate { components, parts }.render()
}

impl Part<'_> {
    fn lines(&self) -> Vec<String> {
        let text = self.text.map(|text| Text(text).to_string()).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

/// Returns an id as a URN: a UUID of version 8 (RFC 9562) of its hash.
fn urn(id: &str) -> String {
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(Sha256::digest(id)).for_each(|(byte, hashed)| *byte = hashed);
    let mut number = u128::from_be_bytes(bytes);
    number = number & !(0xf << 76) | 8 << 76;
    number = number & !(0b11 << 62) | 0b10 << 62;
    let field = |bits: u32, mask: u128| number >> bits & mask;
    format!(
        "urn:uuid:{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        field(96, 0xffff_ffff),
        field(80, 0xffff),
        field(64, 0xffff),
        field(48, 0xffff),
        field(0, 0xffff_ffff_ffff)
    )
}

#[cfg(test)]
mod tests {
    use roxmltree::{Document, Node};

    use super::*;
    use crate::areas::status::public::examples;

    const ATOM: &str = "http://www.w3.org/2005/Atom";

    fn child<'a>(node: Node<'a, 'a>, name: &str) -> &'a str {
        node.children().find(|c| c.has_tag_name((ATOM, name))).and_then(|c| c.text()).unwrap()
    }

    #[test]
    fn incidents_and_maintenances_are_entries() {
        let feed = feed(&examples::page("A & B")).unwrap();
        let document = Document::parse(&feed).unwrap();
        let root = document.root_element();
        assert_eq!(child(root, "title"), "A & B: incidents and maintenance");
        assert_eq!(child(root, "id"), "https://status.acme.example/history.atom");
        assert_eq!(child(root, "updated"), "2026-01-02T03:04:05.678Z");
        let links: Vec<_> = root
            .children()
            .filter(|node| node.has_tag_name((ATOM, "link")))
            .map(|link| (link.attribute("rel").unwrap(), link.attribute("href").unwrap()))
            .collect();
        let expected = [
            ("self", "https://status.acme.example/history.atom"),
            ("alternate", "https://status.acme.example/"),
        ];
        assert_eq!(links, expected);
        let entries: Vec<_> = root
            .children()
            .filter(|node| node.has_tag_name((ATOM, "entry")))
            .map(|entry| (child(entry, "title"), child(entry, "id"), child(entry, "content")))
            .collect();
        let updates = "<p>Affects A &#38; B, A &#38; B</p>\n\
             <p><strong>Identified</strong> 2 Jan 2026, 03:04 UTC<br>A &#38; B</p>\n\
             <p><strong>Investigating</strong> 2 Jan 2026, 03:04 UTC<br>A &#38; B</p>\n";
        let planned = "<p>Affects A &#38; B, A &#38; B</p>\n\
             <p><strong>Scheduled</strong> 2 Jan 2026, 03:04 UTC – 04:04 UTC<br>A &#38; B</p>\n";
        let expected = [
            ("Identified: A & B", "urn:uuid:d5701cf0-f424-8502-97ca-857cc54b144a", updates),
            ("Resolved: A & B", "urn:uuid:da5881a3-8fec-8b3f-85b5-d4410a1d851e", updates),
            ("Maintenance: A & B", "urn:uuid:1779a902-8de8-84b7-83e5-8b41d6e86597", planned),
        ];
        assert_eq!(entries, expected);
    }

    #[test]
    fn a_feed_without_entries_is_valid() {
        let feed = feed(&examples::empty_page()).unwrap();
        let document = Document::parse(&feed).unwrap();
        assert_eq!(document.descendants().filter(|node| node.is_element()).count(), 8);
    }

    #[test]
    fn strings_stay_text_in_the_feed_and_in_the_html_of_its_entries() {
        let structure = |text: &str| {
            let feed = feed(&examples::page(text)).unwrap();
            let document =
                Document::parse(&feed).unwrap_or_else(|error| panic!("{text:?}: {error}"));
            let elements: Vec<_> = document
                .descendants()
                .filter(|node| node.is_element())
                .map(|node| node.tag_name().name().to_owned())
                .collect();
            for node in document.descendants().filter(|n| n.has_tag_name((ATOM, "content"))) {
                let content = scraper::Html::parse_fragment(node.text().unwrap());
                let names =
                    content.root_element().descendants().filter_map(scraper::ElementRef::wrap);
                for element in names {
                    let name = element.value().name();
                    assert!(["html", "p", "strong", "br"].contains(&name), "{name} in {text:?}");
                    assert_eq!(element.value().attrs().count(), 0);
                }
            }
            elements
        };
        let expected = structure("Shop");
        for text in examples::hostile() {
            assert_eq!(structure(&text), expected, "{text:?}");
        }
    }

    #[test]
    fn ids_are_uuids_of_version_8() {
        let urn = urn("inc_1");
        assert_eq!(urn.len(), "urn:uuid:".len() + 36);
        assert_eq!(urn.chars().nth("urn:uuid:".len() + 14), Some('8'));
        assert!("89ab".contains(urn.chars().nth("urn:uuid:".len() + 19).unwrap()));
    }
}
