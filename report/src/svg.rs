use super::picture::{Anchor, FOOT, Paint, Pen, Picture, Point, Shape};

/// The picture as an `svg` element that scales with its surroundings, with a text alternative.
///
/// Colours are attributes, which a style sheet overrides by the classes `fill-…` and `line-…`.
pub(super) fn element(picture: &Picture, title: &str, description: &str) -> String {
    let (width, height) = (number(picture.width), number(picture.height));
    let mut svg = format!(
        "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" \
         font-family=\"DejaVu Sans, Verdana, Arial, sans-serif\" stroke-linejoin=\"round\">\n\
         <title>{}</title>\n<desc>{}</desc>\n",
        escaped(title),
        escaped(description)
    );
    svg += &format!(
        "<path d=\"M0 0H{width}V{height}H0Z\"{}/>\n",
        style(Some(Paint::Paper), None)
    );
    for shape in &picture.shapes {
        svg += &tag(shape);
        svg.push('\n');
    }
    svg + "</svg>\n"
}

/// Writes the picture as a file of its own.
pub(super) fn document(picture: &Picture, title: &str, description: &str) -> String {
    let size = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\"",
        number(picture.width),
        number(picture.height)
    );
    element(picture, title, description).replacen("<svg", &size, 1)
}

/// Text of XML: what has a meaning there is escaped, what may not stand there is replaced.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' | '\n' | '\r' => escaped.push(' '),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            control if control.is_control() => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

fn tag(shape: &Shape) -> String {
    match shape {
        Shape::Area {
            corners,
            fill,
            outline,
        } => format!(
            "<path d=\"{}Z\"{}/>",
            path(corners),
            style(Some(*fill), outline.as_ref())
        ),
        Shape::Line { from, to, pen } => {
            format!(
                "<path d=\"{}\"{}/>",
                path(&[*from, *to]),
                style(None, Some(pen))
            )
        }
        Shape::Disc {
            centre,
            radius,
            fill,
            outline,
        } => format!(
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{}/>",
            number(centre.0),
            number(centre.1),
            number(*radius),
            style(Some(*fill), Some(outline))
        ),
        Shape::Text {
            at: (x, y),
            text,
            size,
            anchor,
            upright,
        } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let foot = number(FOOT * size);
            let place = if *upright {
                format!(
                    "transform=\"translate({} {}) rotate(-90)\" y=\"{foot}\"",
                    number(*x),
                    number(*y)
                )
            } else {
                format!("x=\"{}\" y=\"{}\"", number(*x), number(y + FOOT * size))
            };
            format!(
                "<text {place} font-size=\"{}\" text-anchor=\"{anchor}\"{}>{}</text>",
                number(*size),
                style(Some(Paint::Ink), None),
                escaped(text)
            )
        }
    }
}

fn path(points: &[Point]) -> String {
    let step = |(k, (x, y)): (usize, &Point)| {
        let letter = if k == 0 { 'M' } else { 'L' };
        format!("{letter}{} {}", number(*x), number(*y))
    };
    points.iter().enumerate().map(step).collect()
}

/// The attributes of what is filled, drawn with a pen, or both.
fn style(fill: Option<Paint>, pen: Option<&Pen>) -> String {
    let fills = fill.map(|paint| {
        (
            format!("fill-{}", paint.name()),
            format!("fill=\"{}\"", hex(paint)),
        )
    });
    let strokes = pen.map(|pen| {
        let dash = pen.dash.map_or(String::new(), |(on, off)| {
            format!(" stroke-dasharray=\"{} {}\"", number(on), number(off))
        });
        let stroke = format!(
            "stroke=\"{}\" stroke-width=\"{}\"{dash}",
            hex(pen.paint),
            number(pen.width)
        );
        (format!("line-{}", pen.paint.name()), stroke)
    });
    let (classes, attributes): (Vec<_>, Vec<_>) = fills.into_iter().chain(strokes).unzip();
    format!(" class=\"{}\" {}", classes.join(" "), attributes.join(" "))
}

fn hex(paint: Paint) -> String {
    let [r, g, b] = paint.rgb();
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Rounds to a hundredth of a pixel.
fn number(x: f64) -> String {
    super::number::decimals(x, 2).replace('−', "-")
}
