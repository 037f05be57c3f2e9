use super::{
    PitDiagram,
    drawn::{Drawn, pictured},
    frame::{Frame, mark, single_plot},
    number::{decimals, whole},
    picture::{Paint, Pen, Picture, Shape},
};

pictured!(
    PitDiagram,
    drawn_alone,
    /// The picture as a file of SVG that scales: a bar for each bin, with its top marked, over the grey
    /// band, whose ends are lines; the dashed line is the uniform density. The mark of a bar inside the
    /// band is a disc, that of one outside a red diamond.
);

impl PitDiagram {
    fn title(&self) -> String {
        let what = match self.coordinate {
            Some(coordinate) => format!(" of coordinate {coordinate} (counted from 0)"),
            None => String::new(),
        };
        format!("Histogram of the probability integral transforms{what}")
    }

    pub(super) fn drawn_alone(&self) -> Drawn {
        self.drawn("PIT", self.title())
    }

    /// Describes the picture in words.
    fn description(&self) -> String {
        let mut text = format!(
            "{} values in {} bins of equal width, as densities, 1 if the model is calibrated. The {} % \
             band of each bin is from {} to {} values, density {} to {}; {} bins are outside.",
            whole(self.values()),
            self.counts.len(),
            decimals(100.0 * self.level, 2),
            whole(self.band.0),
            whole(self.band.1),
            decimals(self.density(self.band.0), 3),
            decimals(self.density(self.band.1), 3),
            self.outside()
        );
        for (bin, &count) in self.counts.iter().enumerate() {
            text += &format!(
                " From {} to {}: {} values, density {}.",
                decimals(self.edge(bin), 4),
                decimals(self.edge(bin + 1), 4),
                whole(count),
                decimals(self.density(count), 3)
            );
        }
        text
    }

    /// The lower edge of a bin.
    pub(super) fn edge(&self, bin: usize) -> f64 {
        bin as f64 / self.counts.len() as f64
    }

    /// Under a heading of at most some 10 letters.
    pub(super) fn drawn(&self, heading: &str, title: String) -> Drawn {
        Drawn {
            picture: self.picture(heading),
            title,
            description: self.description(),
        }
    }

    fn picture(&self, heading: &str) -> Picture {
        let heading = format!(
            "{heading}, n = {}, {} of {} outside",
            whole(self.values()),
            self.outside(),
            self.counts.len()
        );
        let axes = ("probability integral transform", "density");
        single_plot(300.0, heading, axes, |frame| self.plot(frame))
    }

    fn plot(&self, frame: &Frame) -> Vec<Shape> {
        let densities: Vec<f64> = self.counts.iter().map(|&n| self.density(n)).collect();
        let (low, high) = (self.density(self.band.0), self.density(self.band.1));
        let top = 1.1 * densities.iter().copied().fold(high, f64::max);
        let level = |density: f64, pen| Shape::Line {
            from: frame.at(0.0, density / top),
            to: frame.at(1.0, density / top),
            pen,
        };
        let mut shapes = vec![frame.paper()];
        shapes.extend(ticks(top).map(|t| level(t, Pen::solid(Paint::Grid, 0.9))));
        shapes.push(Shape::rectangle(
            frame.at(0.0, low / top),
            frame.at(1.0, high / top),
            Paint::Band,
            None,
        ));
        for (bin, density) in densities.iter().enumerate() {
            if *density > 0.0 {
                shapes.push(Shape::rectangle(
                    frame.at(self.edge(bin), 0.0),
                    frame.at(self.edge(bin + 1), density / top),
                    Paint::Bar,
                    Some(Pen::solid(Paint::Ink, 1.0)),
                ));
            }
        }
        shapes.extend([low, high].map(|end| level(end, Pen::solid(Paint::Ink, 1.2))));
        shapes.push(frame.dashed((0.0, 1.0 / top), (1.0, 1.0 / top)));
        shapes.extend(frame.border());
        let half = 0.5 / self.counts.len() as f64;
        let radius = (0.7 * half * frame.width).clamp(2.5, 6.0);
        for (bin, density) in densities.iter().enumerate() {
            let centre = frame.at(self.edge(bin) + half, density / top);
            shapes.push(mark(centre, radius, self.is_inside(bin), frame.font));
        }
        shapes.extend(ticks(top).map(|t| frame.name_left(t / top, decimals(t, 1))));
        shapes
    }
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
