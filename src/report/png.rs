use std::io::{self, Write};

use ab_glyph::{Font, FontRef, GlyphId, PxScale, ScaleFont, point};
use ab_glyph_rasterizer::{Rasterizer, point as corner};
use flate2::{Compression, Crc, write::ZlibEncoder};

use super::picture::{Anchor, FOOT, Paint, Pen, Picture, Point, Shape};

/// Pixels of the file for each of the picture: sharp on fine screens and on paper.
const SCALE: f64 = 2.0;

/// The picture as a PNG file, with text in the embedded font DejaVu Sans: no font of the system is
/// looked for.
///
/// Written by hand on top of a zlib encoder: the crate that does it would have the dependencies of
/// Burn's backends compiled once more with other features.
pub(super) fn encode(picture: &Picture) -> io::Result<Vec<u8>> {
    let mut canvas = Canvas::new(picture.width * SCALE, picture.height * SCALE);
    for shape in &picture.shapes {
        canvas.draw(shape);
    }
    let mut pixels = ZlibEncoder::new(Vec::new(), Compression::best());
    for row in canvas.rgb.chunks(3 * canvas.width) {
        pixels.write_all(&[0])?; // no filter
        pixels.write_all(row)?;
    }
    let mut header = Vec::new();
    header.extend((canvas.width as u32).to_be_bytes());
    header.extend((canvas.height as u32).to_be_bytes());
    header.extend([8, 2, 0, 0, 0]); // 8 bits, RGB, deflate, filters by row, not interlaced
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    for (name, content) in [
        (b"IHDR", header),
        (b"IDAT", pixels.finish()?),
        (b"IEND", Vec::new()),
    ] {
        file.extend(chunk(name, &content));
    }
    Ok(file)
}

/// Length, name, content, and the checksum of the last two.
fn chunk(name: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let mut checksum = Crc::new();
    checksum.update(name);
    checksum.update(content);
    let length = (content.len() as u32).to_be_bytes();
    [&length, &name[..], content, &checksum.sum().to_be_bytes()].concat()
}

struct Canvas {
    width: usize,
    height: usize,
    rgb: Vec<u8>,
}

impl Canvas {
    fn new(width: f64, height: f64) -> Self {
        let (width, height) = (width.ceil() as usize, height.ceil() as usize);
        Self {
            width,
            height,
            rgb: vec![255; 3 * width * height],
        }
    }

    fn draw(&mut self, shape: &Shape) {
        match shape {
            Shape::Area {
                corners,
                fill,
                outline,
            } => {
                let corners: Vec<Point> = corners.iter().copied().map(scaled).collect();
                self.fill(&corners, *fill);
                if let Some(pen) = outline {
                    self.outline(&corners, pen);
                }
            }
            Shape::Line { from, to, pen } => self.line([*from, *to].map(scaled), pen),
            Shape::Disc {
                centre,
                radius,
                fill,
                outline,
            } => {
                let (centre, half) = (scaled(*centre), 0.5 * outline.width);
                self.fill(&circle(centre, (radius + half) * SCALE), outline.paint);
                self.fill(&circle(centre, (radius - half) * SCALE), *fill);
            }
            Shape::Text {
                at: (x, y),
                text,
                size,
                anchor,
                upright,
            } => {
                let foot = FOOT * size * SCALE;
                let (x, y) = scaled((*x, *y));
                if *upright {
                    self.text(text, size * SCALE, *anchor, |(along, down)| {
                        (x + foot + down, y - along)
                    })
                } else {
                    self.text(text, size * SCALE, *anchor, |(along, down)| {
                        (x + along, y + foot + down)
                    })
                }
            }
        }
    }

    /// A closed line with round corners.
    fn outline(&mut self, corners: &[Point], pen: &Pen) {
        for (k, &from) in corners.iter().enumerate() {
            self.line([from, corners[(k + 1) % corners.len()]], pen);
            self.fill(&circle(from, 0.5 * pen.width * SCALE), pen.paint);
        }
    }

    fn line(&mut self, [(x0, y0), (x1, y1)]: [Point; 2], pen: &Pen) {
        let length = (x1 - x0).hypot(y1 - y0);
        if length == 0.0 {
            return;
        }
        let (dx, dy) = ((x1 - x0) / length, (y1 - y0) / length);
        let half = 0.5 * pen.width * SCALE;
        let (on, off) = pen.dash.map_or((length, 0.0), scaled);
        let mut start = 0.0;
        while start < length {
            let end = (start + on).min(length);
            let corner = |along: f64, aside: f64| {
                (x0 + along * dx - aside * dy, y0 + along * dy + aside * dx)
            };
            let corners = [
                corner(start, half),
                corner(end, half),
                corner(end, -half),
                corner(start, -half),
            ];
            self.fill(&corners, pen.paint);
            start += on + off;
        }
    }

    /// A polygon, by the part of each pixel that it covers.
    fn fill(&mut self, corners: &[Point], paint: Paint) {
        let least = |of: fn(&Point) -> f64| corners.iter().map(of).fold(f64::INFINITY, f64::min);
        let most = |of: fn(&Point) -> f64| corners.iter().map(of).fold(0.0, f64::max);
        let (left, top) = (least(|p| p.0).floor(), least(|p| p.1).floor());
        let (right, bottom) = (most(|p| p.0).ceil(), most(|p| p.1).ceil());
        let mut raster = Rasterizer::new((right - left) as usize + 2, (bottom - top) as usize + 2);
        let place = |(x, y): Point| corner((x - left) as f32, (y - top) as f32);
        for (k, &from) in corners.iter().enumerate() {
            raster.draw_line(place(from), place(corners[(k + 1) % corners.len()]));
        }
        raster.for_each_pixel_2d(|x, y, coverage| {
            self.blend(left + f64::from(x), top + f64::from(y), coverage, paint);
        });
    }

    /// A line of text; `place` gives the pixel for a distance along it and one below its foot.
    fn text(&mut self, text: &str, size: f64, anchor: Anchor, place: impl Fn(Point) -> Point) {
        let font = FontRef::try_from_slice(dejavu::sans::regular()).expect("an embedded font");
        let em = font.units_per_em().expect("the embedded font is scalable");
        let height = size as f32 * font.height_unscaled() / em;
        let font = font.as_scaled(PxScale::from(height));
        let mut carets: Vec<(GlyphId, f32)> = Vec::new();
        let mut caret = 0.0;
        for character in text.chars() {
            let id = font.glyph_id(character);
            if let Some((last, _)) = carets.last() {
                caret += font.kern(*last, id);
            }
            carets.push((id, caret));
            caret += font.h_advance(id);
        }
        let start = match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -0.5 * caret,
            Anchor::End => -caret,
        };
        for (id, caret) in carets {
            let glyph = id.with_scale_and_position(font.scale(), point(start + caret, 0.0));
            let Some(outline) = font.outline_glyph(glyph) else {
                continue; // a space
            };
            let corner = outline.px_bounds().min;
            outline.draw(|x, y, coverage| {
                let along = f64::from(corner.x + x as f32) + 0.5;
                let down = f64::from(corner.y + y as f32) + 0.5;
                let (x, y) = place((along, down));
                self.blend(x.floor(), y.floor(), coverage, Paint::Ink);
            });
        }
    }

    fn blend(&mut self, x: f64, y: f64, coverage: f32, paint: Paint) {
        let inside = x >= 0.0 && y >= 0.0 && x < self.width as f64 && y < self.height as f64;
        if !inside {
            return; // the margin of a shape at the edge of the paper
        }
        let at = 3 * (y as usize * self.width + x as usize);
        let coverage = coverage.clamp(0.0, 1.0);
        for (old, new) in self.rgb[at..at + 3].iter_mut().zip(paint.rgb()) {
            let mixed = f32::from(*old) * (1.0 - coverage) + f32::from(new) * coverage;
            *old = mixed.round() as u8;
        }
    }
}

fn scaled((x, y): Point) -> Point {
    (x * SCALE, y * SCALE)
}

/// A circle as a polygon that nobody tells from it.
fn circle((x, y): Point, radius: f64) -> Vec<Point> {
    const CORNERS: usize = 48;
    let corner = |k: usize| {
        let (sin, cos) = (std::f64::consts::TAU * k as f64 / CORNERS as f64).sin_cos();
        (x + radius * cos, y + radius * sin)
    };
    (0..CORNERS).map(corner).collect()
}
