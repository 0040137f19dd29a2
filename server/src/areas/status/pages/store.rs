//! The stored documents of status pages.
//!
//! The collection is `status_pages`, the key a page's id.
//!
//! ```text
//! {"name", "subdomain", "custom_domain"?, "logo_url"?, "primary_color"?,
//!  "components": [{"monitor_id", "display_name"?, "group"?}], "created_by", "created_at_ms"}
//! ```
//!
//! A document with an id, a URL or a color that is not valid cannot be read.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use telltale_engine::{Collection, TimestampMs};

use super::logo::LogoUrl;
use super::model::{Branding, Color, Component, Page};
use super::subdomain::Subdomain;
use crate::areas::status::documents::StoredResource;
use crate::areas::status::error::{StatusError, StatusKind};
use crate::areas::status::ids::{MonitorId, PageId};
use crate::areas::status::limits;

/// A stored page, without its id.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "PageDocument", into = "PageDocument")]
pub(in crate::areas::status) struct StoredPage(Page);

/// The JSON of a stored page.
#[derive(Debug, Serialize, Deserialize)]
struct PageDocument {
    name: String,
    subdomain: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    custom_domain: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    logo_url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    primary_color: Option<String>,
    components: Vec<ComponentDocument>,
    created_by: String,
    created_at_ms: i64,
}

/// The JSON of a component.
#[derive(Debug, Serialize, Deserialize)]
struct ComponentDocument {
    monitor_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    display_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    group: Option<String>,
}

impl TryFrom<PageDocument> for StoredPage {
    type Error = String;

    fn try_from(document: PageDocument) -> Result<Self, String> {
        let color = |text: String| Color::parse(&text).ok_or("primary_color is not valid");
        let logo = document.logo_url.map(|text| LogoUrl::parse(&text)).transpose();
        let component = |component: ComponentDocument| {
            let monitor_id = MonitorId::parse(&component.monitor_id);
            Ok::<_, String>(Component {
                monitor_id: monitor_id.ok_or("monitor_id is not valid")?,
                display_name: component.display_name,
                group: component.group,
            })
        };
        Ok(Self(Page {
            // The key of the document, which `from_stored` sets.
            id: PageId(0),
            name: document.name,
            // Names may be reserved later.
            subdomain: Subdomain::stored(document.subdomain),
            custom_domain: document.custom_domain,
            branding: Branding {
                logo_url: logo.map_err(|expected| format!("logo_url {expected}"))?,
                primary_color: document.primary_color.map(color).transpose()?,
            },
            components: document.components.into_iter().map(component).collect::<Result<_, _>>()?,
            created_by: document.created_by,
            created_at: TimestampMs(document.created_at_ms),
        }))
    }
}

impl From<StoredPage> for PageDocument {
    fn from(StoredPage(page): StoredPage) -> Self {
        let component = |component: Component| ComponentDocument {
            monitor_id: component.monitor_id.text(),
            display_name: component.display_name,
            group: component.group,
        };
        let Branding { logo_url, primary_color } = page.branding;
        Self {
            name: page.name,
            subdomain: page.subdomain.as_str().to_owned(),
            custom_domain: page.custom_domain,
            logo_url: logo_url.map(|logo| logo.as_str().to_owned()),
            primary_color: primary_color.map(|color| color.as_str().to_owned()),
            components: page.components.into_iter().map(component).collect(),
            created_by: page.created_by,
            created_at_ms: page.created_at.0,
        }
    }
}

impl StoredResource for Page {
    type Kind = StatusKind;
    type Error = StatusError;
    type Stored = StoredPage;
    const COLLECTION: Collection = Collection("status_pages");
    const KIND: StatusKind = StatusKind::Page;
    const COUNT_MAX: usize = limits::PAGES_MAX;

    fn id(&self) -> Cow<'_, str> {
        self.id.text().into()
    }

    fn to_stored(&self) -> StoredPage {
        StoredPage(self.clone())
    }

    fn from_stored(id: String, StoredPage(page): StoredPage) -> Self {
        Self { id: PageId::of_document(&id), ..page }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_stored_and_read_back() {
        let mut page = Page {
            id: PageId(7),
            name: "Shop".to_owned(),
            subdomain: Subdomain::parse("shop").unwrap(),
            custom_domain: None,
            branding: Branding::default(),
            components: vec![Component::new(MonitorId(1))],
            created_by: "anna".to_owned(),
            created_at: TimestampMs(1_767_323_045_678),
        };
        let check = |page: &Page| {
            let json = serde_json::to_string(&page.to_stored()).unwrap();
            let stored = serde_json::from_str(&json).unwrap();
            assert_eq!(Page::from_stored(page.id.text(), stored), *page);
            json
        };
        check(&page);
        page.custom_domain = Some("up.example.com".to_owned());
        page.branding.logo_url = Some(LogoUrl::parse("https://example.com/logo.png").unwrap());
        page.branding.primary_color = Color::parse("#4F46E5");
        page.components.push(Component {
            monitor_id: MonitorId(2),
            display_name: Some("Checkout".to_owned()),
            group: Some("Web".to_owned()),
        });
        let json = check(&page);
        for (valid, damaged) in [("#4F46E5", "red"), ("https://", "javascript:"), ("mon_", "sp_")] {
            let json = json.replacen(valid, damaged, 1);
            assert!(serde_json::from_str::<StoredPage>(&json).is_err(), "{json}");
        }
    }
}
