//! The style of the public pages, the colour and logo that users gave them, and the
//! `Content-Security-Policy` that admits exactly these.
//!
//! A colour becomes part of the style only as `#` and six hexadecimal digits. It is a background
//! for text in black or white, whichever has more contrast, and never the colour of a text. A logo
//! is loaded only from an `http` or `https` URL, of which the policy admits the origin.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};
use url::Url;

use super::model::PublicBranding;

/// The style of all pages. Without a colour of the page, its default is used.
const STYLE: &str = include_str!("../../../../templates/status/page.css");

/// A validated branding, in the form in which pages contain it.
#[derive(Debug)]
pub(super) struct Look {
    /// The content of the only `style` element.
    pub(super) style: String,
    /// The value of the header `Content-Security-Policy`.
    pub(super) policy: String,
    pub(super) logo_url: Option<String>,
    /// Whether the page has a colour.
    pub(super) is_branded: bool,
}

/// A colour as `#rrggbb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Color {
    channels: [u8; 3],
}

struct Logo {
    url: String,
    origin: String,
}

impl Look {
    /// Validates a branding; invalid parts of it are left out.
    pub(super) fn new(branding: &PublicBranding) -> Self {
        let color = branding.primary_color.as_deref().and_then(Color::parse);
        let logo = branding.logo_url.as_deref().and_then(Logo::parse);
        let style = match color {
            None => STYLE.to_owned(),
            Some(color) => {
                let text_color = if color.is_light() { "#000" } else { "#fff" };
                let value = color.value();
                format!("{STYLE}:root{{--brand:{value};--on-brand:{text_color}}}\n")
            }
        };
        let policy = policy(&style, logo.as_ref().map(|logo| logo.origin.as_str()));
        Self { style, policy, logo_url: logo.map(|logo| logo.url), is_branded: color.is_some() }
    }
}

/// Returns the policy: no script, no other style, no image but the icon and the logo, forms only to
/// where the page comes from.
fn policy(style: &str, logo_origin: Option<&str>) -> String {
    let hash = STANDARD.encode(Sha256::digest(style));
    let logo = logo_origin.map(|origin| format!(" {origin}")).unwrap_or_default();
    format!(
        "default-src 'none'; style-src 'sha256-{hash}'; img-src 'self'{logo}; form-action 'self'; \
         base-uri 'none'; frame-ancestors 'self'"
    )
}

impl Color {
    fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('#')?;
        if digits.len() != 6 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        let [_, channels @ ..] = u32::from_str_radix(digits, 16).ok()?.to_be_bytes();
        Some(Self { channels })
    }

    fn value(self) -> String {
        let [red, green, blue] = self.channels;
        format!("#{red:02x}{green:02x}{blue:02x}")
    }

    /// Returns whether black has more contrast with the colour than white.
    fn is_light(self) -> bool {
        let luminance = self.luminance();
        contrast(luminance, 0.0) >= contrast(1.0, luminance)
    }

    /// Returns the relative luminance, as WCAG 2.2 defines it.
    fn luminance(self) -> f64 {
        let [red, green, blue] = self.channels.map(|channel| match f64::from(channel) / 255.0 {
            channel if channel <= 0.040_45 => channel / 12.92,
            channel => ((channel + 0.055) / 1.055).powf(2.4),
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
}

/// Returns the contrast of two relative luminances, as WCAG 2.2 defines it.
fn contrast(lighter: f64, darker: f64) -> f64 {
    (lighter + 0.05) / (darker + 0.05)
}

impl Logo {
    fn parse(text: &str) -> Option<Self> {
        let is_unsafe = |c: char| c.is_control() || c.is_whitespace() || "\"'`<>\\".contains(c);
        if text.contains(is_unsafe) {
            return None;
        }
        let url = Url::parse(text).ok()?;
        let is_web = ["http", "https"].contains(&url.scheme());
        let has_password = !url.username().is_empty() || url.password().is_some();
        let origin = url.origin().ascii_serialization();
        // In the policy, `*` would admit every host, and `;` would begin another directive.
        let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-._:/[]".contains(&b);
        let is_valid = is_web && !has_password && origin.bytes().all(is_plain);
        is_valid.then(|| Self { url: url.into(), origin })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::areas::status::public::examples;

    fn look(logo_url: &str, primary_color: &str) -> Look {
        Look::new(&PublicBranding {
            logo_url: Some(logo_url.to_owned()),
            primary_color: Some(primary_color.to_owned()),
        })
    }

    #[test]
    fn text_on_a_colour_always_has_enough_contrast() {
        for (color, text_color) in [
            ("#000000", "#fff"),
            ("#ffffff", "#000"),
            ("#FFD400", "#000"),
            ("#1f4fd8", "#fff"),
            ("#777777", "#000"),
            ("#707070", "#fff"),
        ] {
            let look = look("", color);
            let root =
                format!(":root{{--brand:{};--on-brand:{text_color}}}\n", color.to_lowercase());
            assert!(look.style.ends_with(&root), "{color}");
            assert!(look.is_branded);
        }
        for value in (0..=0x00ff_ffff_u32).step_by(997) {
            let color = Color::parse(&format!("#{value:06x}")).unwrap();
            let luminance = color.luminance();
            let reached =
                if color.is_light() { contrast(luminance, 0.0) } else { contrast(1.0, luminance) };
            assert!(reached >= 4.5, "{}: {reached}", color.value());
        }
    }

    #[test]
    fn an_invalid_colour_is_not_used() {
        let invalid = [
            "",
            "#",
            "#fff",
            "red",
            "1f4fd8",
            "#1f4fd8;",
            "#1f4fd8 ",
            "#12345g",
            "#１２",
            "#+12345",
            "}*{color:red",
            "</style>",
        ];
        let hostile = examples::hostile();
        for color in invalid.into_iter().chain(hostile.iter().map(String::as_str)) {
            let look = look("", color);
            assert_eq!(look.style, STYLE, "{color:?}");
            assert!(!look.is_branded);
        }
    }

    #[test]
    fn a_logo_is_loaded_from_its_origin_only() {
        for (url, source, shown) in [
            ("https://cdn.example/a.png", "https://cdn.example", "https://cdn.example/a.png"),
            (
                "http://CDN.example:80/a b".trim_end_matches(" b"),
                "http://cdn.example",
                "http://cdn.example/a",
            ),
            (
                "https://cdn.example:8443/?a=1&b=2",
                "https://cdn.example:8443",
                "https://cdn.example:8443/?a=1&b=2",
            ),
            (
                "https://bücher.example/ü.svg",
                "https://xn--bcher-kva.example",
                "https://xn--bcher-kva.example/%C3%BC.svg",
            ),
        ] {
            let look = look(url, "");
            assert_eq!(look.logo_url.as_deref(), Some(shown));
            assert!(look.policy.contains(&format!("img-src 'self' {source}; ")), "{}", look.policy);
        }
        let invalid = [
            "",
            "a.png",
            "//cdn.example/a.png",
            "ftp://cdn.example/a.png",
            "https://",
            "https://*/a",
            "https://*.example/a",
            "https://a;script-src *",
            "https://a,b/",
            "https://u:p@cdn.example/a",
            "https://cdn.example/\"onerror=x",
            "https://cdn.example/'x",
            "https://cdn.example/a b",
            "https://cdn.example/\u{2028}",
            "https://cdn.example/\0",
            "data:image/svg+xml,<svg/>",
            "blob:https://cdn.example/1",
            "file:///etc/passwd",
            "javascript:alert(1)",
        ];
        let hostile = examples::hostile();
        for url in invalid.into_iter().chain(hostile.iter().map(String::as_str)) {
            let look = look(url, "");
            assert_eq!(look.logo_url, None, "{url:?}");
            assert!(look.policy.contains("img-src 'self'; "), "{}", look.policy);
        }
    }

    #[test]
    fn the_style_cannot_end_early() {
        assert!(!STYLE.contains('<'));
        // Browsers hash the text after they normalised its line breaks.
        assert!(!STYLE.contains('\r'));
    }
}
