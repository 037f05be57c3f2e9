use maud::Markup;

use super::{
    drawn::{Draw, Drawn},
    frame::{Frame, single_plot},
    number::{counted, decimals, whole},
    svg::{Paint, Pen, line, mark, rectangle},
    table,
};
use burn_calibration::diagram::PitDiagram;

/// The picture as a file of SVG that scales: a bar for each bin, with its top marked, over the grey
/// band, whose ends are lines; the dashed line is the uniform density. The mark of a bar inside the
/// band is a disc, that of one outside a red diamond.
impl Draw for PitDiagram {
    fn drawn(&self) -> Drawn {
        let of = match self.coordinate {
            Some(coordinate) => format!(" of coordinate {coordinate} (counted from 0)"),
            None => String::new(),
        };
        let title = format!("Histogram of the probability integral transforms{of}");
        drawn_under(self, "PIT", title)
    }
}

/// Draws the diagram under a heading of at most some 10 letters.
pub(super) fn drawn_under(diagram: &PitDiagram, heading: &str, title: String) -> Drawn {
    let heading = format!(
        "{heading}, n = {}, {} of {} outside",
        whole(diagram.values()),
        diagram.outside(),
        diagram.counts.len()
    );
    let axes = ("probability integral transform", "density");
    Drawn {
        picture: single_plot(300.0, &heading, axes, |frame| plot(diagram, frame)),
        title,
        description: description(diagram),
    }
}

/// Describes the picture in words.
fn description(diagram: &PitDiagram) -> String {
    let [low, high] = densities_of_band(diagram).map(|density| decimals(density, 3));
    let values = if diagram.weights.is_some() {
        String::new()
    } else {
        let [low, high] =
            [diagram.band.lower, diagram.band.upper].map(|count| whole(count as usize));
        format!("{low} to {high} values, ")
    };
    let mut text = format!(
        "{} in {} of equal width, as densities, 1 if the model is calibrated. The {} % band of \
         each bin reaches from {values}density {low} to {high}; {} bins are outside.",
        counted(diagram.values(), "value"),
        counted(diagram.counts.len(), "bin"),
        decimals(100.0 * diagram.level, 2),
        diagram.outside()
    );
    for (bin, &count) in diagram.counts.iter().enumerate() {
        text += &format!(
            " From {} to {}: {}, density {}.",
            decimals(edge(diagram, bin), 4),
            decimals(edge(diagram, bin + 1), 4),
            counted(count, "value"),
            decimals(diagram.density(diagram.bar(bin)), 3)
        );
    }
    text
}

fn densities_of_band(diagram: &PitDiagram) -> [f64; 2] {
    [diagram.band.lower, diagram.band.upper].map(|end| diagram.density(end))
}

/// The lower edge of a bin.
fn edge(diagram: &PitDiagram, bin: usize) -> f64 {
    bin as f64 / diagram.counts.len() as f64
}

/// The numbers of the picture as a table.
pub(super) fn numbers(pit: &PitDiagram, what: &str) -> Markup {
    let (band, of_band) = if pit.weights.is_some() {
        let [low, high] = densities_of_band(pit).map(|density| format!("{density:.3}"));
        (format!("{low}–{high}"), "band of the density")
    } else {
        let [low, high] = [pit.band.lower, pit.band.upper].map(|count| whole(count as usize));
        (format!("{low}–{high}"), "band")
    };
    let row = |(bin, &count): (usize, &usize)| {
        let [lower, upper] = [bin, bin + 1].map(|bin| decimals(edge(pit, bin), 3));
        vec![
            format!("{lower}–{upper}"),
            whole(count),
            format!("{:.3}", pit.density(pit.bar(bin))),
            band.clone(),
        ]
    };
    table::picture_table(
        &format!("{what}: targets, density relative to the uniform one, and band of each bar"),
        &["bin", "targets", "density", of_band],
        pit.counts.iter().enumerate().map(row),
    )
}

fn plot(diagram: &PitDiagram, frame: &Frame) -> Vec<Markup> {
    let bins = 0..diagram.counts.len();
    let densities: Vec<f64> = bins.map(|bin| diagram.density(diagram.bar(bin))).collect();
    let [low, high] = densities_of_band(diagram);
    let top = 1.1 * densities.iter().copied().fold(high, f64::max);
    let at = |x: f64, density: f64| frame.at(x, density / top);
    let level = |density, pen| line(&[at(0.0, density), at(1.0, density)], pen);
    let mut shapes = vec![frame.paper()];
    shapes.extend(ticks(top).map(|t| level(t, Pen::solid(Paint::GRID, 0.9))));
    shapes.push(rectangle(at(0.0, low), at(1.0, high), Paint::BAND, None));
    for (bin, &density) in densities.iter().enumerate() {
        if density > 0.0 {
            shapes.push(rectangle(
                at(edge(diagram, bin), 0.0),
                at(edge(diagram, bin + 1), density),
                Paint::BAR,
                Some(Pen::solid(Paint::INK, 1.0)),
            ));
        }
    }
    shapes.extend([low, high].map(|end| level(end, Pen::solid(Paint::INK, 1.2))));
    shapes.push(frame.dashed((0.0, 1.0 / top), (1.0, 1.0 / top)));
    shapes.push(frame.border());
    let half = 0.5 / diagram.counts.len() as f64;
    let radius = (0.7 * half * frame.width).clamp(2.5, 6.0);
    for (bin, &density) in densities.iter().enumerate() {
        let centre = at(edge(diagram, bin) + half, density);
        shapes.push(mark(centre, radius, diagram.is_inside(bin), frame.font));
    }
    shapes.extend(ticks(top).map(|t| frame.name_left(t / top, &decimals(t, 1))));
    shapes
}

/// Ticks from 0 in steps of 1, 2 or 5 times a power of ten, at most six.
fn ticks(top: f64) -> impl Iterator<Item = f64> {
    let power = 10f64.powf(top.log10().floor() - 1.0);
    let steps = [1.0, 2.0, 5.0, 10.0, 20.0].map(|step| step * power);
    let step = steps.into_iter().find(|step| top / step < 6.0);
    let step = step.expect("20 times the power is more than a sixth");
    (0..6)
        .map(move |k| f64::from(k) * step)
        .filter(move |t| *t <= top)
}
