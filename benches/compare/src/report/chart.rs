//! Bar charts as SVG: groups with one bar per peer, on a linear or logarithmic scale. Only shapes
//! and text, so that every Markdown viewer shows them.
//!
//! The same charts drawn with `plotters` 0.3 took 103 lines instead of 111, and four more crates.
//! It has scales and coordinates, but no groups of bars with a label for each group and a value at
//! each bar: these are positioned by hand there too. Axes, ticks or curves would be a reason to use
//! it; no chart here has any.

use super::markdown::number;

const WIDTH: f64 = 880.0;
const LABEL_WIDTH: f64 = 190.0;
const VALUE_WIDTH: f64 = 70.0;
const BAR_HEIGHT: f64 = 15.0;
const GROUP_GAP: f64 = 14.0;
const TOP: f64 = 64.0;

/// The names and colours of bars, in the order of the legend.
const COLOURS: [(&str, &str); 6] = [
    ("telltale raw", "#6fb98f"),
    ("telltale", "#0b6e4f"),
    ("victoria-metrics", "#6a4c93"),
    ("influxdb", "#1982c4"),
    ("clickhouse", "#e0a100"),
    ("duckdb", "#8a8a8a"),
];

/// The scale of the bars.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Axis {
    Linear,
    Logarithmic,
}

/// A bar: peer and value.
pub(crate) struct Bar {
    pub(crate) peer: &'static str,
    pub(crate) value: f64,
}

/// A group of bars.
pub(crate) struct Group {
    pub(crate) label: String,
    pub(crate) bars: Vec<Bar>,
}

/// Draws the chart; `None` if there are no values.
pub(crate) fn draw(title: &str, axis: Axis, groups: &[Group]) -> Option<String> {
    let values = || groups.iter().flat_map(|group| &group.bars).map(|bar| bar.value);
    let (least, most) = values().fold((f64::MAX, 0.0), |(least, most): (f64, f64), value| {
        (least.min(value), most.max(value))
    });
    if most <= 0.0 {
        return None;
    }
    let room = WIDTH - LABEL_WIDTH - VALUE_WIDTH;
    let length = |value: f64| match axis {
        Axis::Linear => room * value / most,
        Axis::Logarithmic => {
            // The shortest bar is still visible.
            let floor = (least * 0.5).log10();
            room * (value.log10() - floor) / (most.log10() - floor)
        }
    };
    let mut body = String::new();
    let mut y = TOP;
    for group in groups {
        let height = group.bars.len() as f64 * BAR_HEIGHT;
        let middle = y + height / 2.0 + 4.0;
        let x = LABEL_WIDTH - 10.0;
        text(&mut body, x, middle, "end", "#222", &group.label);
        for bar in &group.bars {
            let (length, colour) = (length(bar.value).max(1.0), colour(bar.peer));
            rectangle(&mut body, LABEL_WIDTH, y + 1.0, length, BAR_HEIGHT - 2.0, colour);
            let x = LABEL_WIDTH + length + 5.0;
            text(&mut body, x, y + 11.5, "start", "#444", &number(bar.value));
            y += BAR_HEIGHT;
        }
        y += GROUP_GAP;
    }
    let scale = if axis == Axis::Logarithmic { ", logarithmic" } else { "" };
    let mut head = String::new();
    text(&mut head, 16.0, 24.0, "start", "#111", &format!("{title} (less is better{scale})"));
    legend(&mut head, groups);
    Some(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {y}\" font-family=\"system-ui, sans-serif\" font-size=\"12\">\n<rect width=\"{WIDTH}\" height=\"{y}\" fill=\"#fff\"/>\n{head}{body}</svg>\n"
    ))
}

fn legend(out: &mut String, groups: &[Group]) {
    let shown = |peer: &str| groups.iter().flat_map(|g| &g.bars).any(|bar| bar.peer == peer);
    let mut x = 16.0;
    for peer in COLOURS.iter().map(|(peer, _)| *peer).filter(|peer| shown(peer)) {
        rectangle(out, x, 38.0, 11.0, 11.0, colour(peer));
        text(out, x + 16.0, 48.0, "start", "#222", peer);
        x += 36.0 + 7.0 * peer.len() as f64;
    }
}

fn colour(peer: &str) -> &'static str {
    COLOURS.iter().find(|(name, _)| *name == peer).map_or("#8a8a8a", |(_, colour)| colour)
}

fn rectangle(out: &mut String, x: f64, y: f64, width: f64, height: f64, colour: &str) {
    out.push_str(&format!(
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{colour}\"/>\n"
    ));
}

fn text(out: &mut String, x: f64, y: f64, anchor: &str, colour: &str, words: &str) {
    let words = words.replace('&', "&amp;").replace('<', "&lt;");
    out.push_str(&format!(
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{words}</text>\n"
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_has_the_length_of_its_value() {
        let bar = |peer, value| Bar { peer, value };
        let group = Group {
            label: "a < b".to_owned(),
            bars: vec![bar("telltale", 1.0), bar("duckdb", 2.0)],
        };
        let drawn = draw("Size", Axis::Linear, &[group]).unwrap_or_default();
        assert!(drawn.contains("width=\"310.0\""), "half of the width: {drawn}");
        assert!(drawn.contains("width=\"620.0\""), "the full width: {drawn}");
        assert!(drawn.contains("a &lt; b"), "{drawn}");
        assert!(draw("Nothing", Axis::Logarithmic, &[]).is_none());
    }
}
