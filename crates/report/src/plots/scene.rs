//! A drawing as a list of shapes in pixels, and the one place where it meets plotters.
//!
//! A plot is a pure function to a [`Scene`]; only [`Scene::to_svg`] can fail.

use plotters::coord::Shift;
use plotters::prelude::{
    Circle, DrawingArea, DrawingBackend, IntoDrawingArea, PathElement, Polygon, RGBColor, Rectangle, SVGBackend, Text,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontDesc, FontFamily, FontStyle, TextStyle};

use crate::escape;
use crate::font::{FAMILY, Weight};

/// The palette of Okabe and Ito without yellow, which is lost on white. Told apart under colour blindness.
const PALETTE: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];

/// Text and whiskers.
pub(crate) const INK: RGBColor = RGBColor(34, 34, 34);
/// Secondary text.
pub(crate) const SOFT: RGBColor = RGBColor(85, 85, 85);
/// Grid lines.
pub(crate) const GRID: RGBColor = RGBColor(221, 221, 221);
/// Bars under whiskers.
pub(crate) const BAR: RGBColor = RGBColor(153, 180, 205);

/// A colour for the nth series.
pub(crate) fn colour(series: usize) -> RGBColor {
    PALETTE[series % PALETTE.len()]
}

/// Shapes that tell series apart without colour.
const MARKS: usize = 6;

/// Where text stands relative to its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// The point is at its left, middle height.
    Left,
    /// At its middle.
    Middle,
    /// At its right, middle height.
    Right,
    /// At its middle, and the text runs upwards.
    Upwards,
}

#[derive(Debug)]
enum Shape {
    Line { from: (i32, i32), to: (i32, i32), width: u32, colour: RGBColor },
    Bar { corners: [(i32, i32); 2], colour: RGBColor },
    Polygon { points: Vec<(i32, i32)>, colour: RGBColor },
    Disc { centre: (i32, i32), radius: i32, colour: RGBColor },
    Text { at: (i32, i32), text: String, size: i32, weight: Weight, colour: RGBColor, anchor: Anchor },
}

/// A drawing.
#[derive(Debug)]
pub(crate) struct Scene {
    /// What it shows, for readers that speak.
    pub(crate) title: String,
    /// Width and height.
    pub(crate) size: (i32, i32),
    shapes: Vec<Shape>,
}

impl Scene {
    /// An empty drawing without a title.
    pub(crate) fn new(size: (i32, i32)) -> Self {
        Self { title: String::new(), size, shapes: Vec::new() }
    }

    /// A straight line.
    pub(crate) fn line(&mut self, from: (i32, i32), to: (i32, i32), width: u32, colour: RGBColor) {
        self.shapes.push(Shape::Line { from, to, width, colour });
    }

    /// A filled rectangle.
    pub(crate) fn bar(&mut self, from: (i32, i32), to: (i32, i32), colour: RGBColor) {
        self.shapes.push(Shape::Bar { corners: [from, to], colour });
    }

    /// A line of text.
    pub(crate) fn text(&mut self, at: (i32, i32), text: &str, size: i32, colour: RGBColor, anchor: Anchor) {
        let text = escape::visible(text).into_owned();
        self.shapes.push(Shape::Text { at, text, size, weight: Weight::Regular, colour, anchor });
    }

    /// A line of bold text.
    pub(crate) fn heading(&mut self, at: (i32, i32), text: &str, size: i32, anchor: Anchor) {
        let text = escape::visible(text).into_owned();
        self.shapes.push(Shape::Text { at, text, size, weight: Weight::Bold, colour: INK, anchor });
    }

    /// An interval: a line with two ends.
    pub(crate) fn whisker(&mut self, from: i32, to: i32, y: i32, half: i32) {
        self.line((from, y), (to, y), 3, INK);
        for x in [from, to] {
            self.line((x, y - half), (x, y + half), 3, INK);
        }
    }

    /// The mark of the nth series, with a white rim so that it stands out from what is under it.
    pub(crate) fn mark(&mut self, at: (i32, i32), radius: i32, series: usize, colour: RGBColor) {
        for (radius, colour) in [(radius + 3, RGBColor(255, 255, 255)), (radius, colour)] {
            self.shapes.push(mark(at, radius, series, colour));
        }
    }

    /// Draws the scene as SVG, its text still text.
    pub(crate) fn to_svg(&self) -> Result<String, String> {
        let mut svg = String::new();
        let size = (u32::try_from(self.size.0), u32::try_from(self.size.1));
        let (Ok(width), Ok(height)) = size else { return Err("the drawing has no size".to_owned()) };
        {
            let area = SVGBackend::with_string(&mut svg, (width, height)).into_drawing_area();
            self.draw(&area).map_err(|error| error.to_string())?;
            area.present().map_err(|error| error.to_string())?;
        }
        Ok(svg)
    }

    fn draw<D: DrawingBackend>(&self, area: &DrawingArea<D, Shift>) -> Result<(), Failure<D>> {
        area.fill(&RGBColor(255, 255, 255))?;
        for shape in &self.shapes {
            match shape {
                Shape::Line { from, to, width, colour } => {
                    area.draw(&PathElement::new(vec![*from, *to], colour.stroke_width(*width)))?;
                }
                Shape::Bar { corners, colour } => area.draw(&Rectangle::new(*corners, colour.filled()))?,
                Shape::Polygon { points, colour } => area.draw(&Polygon::new(points.clone(), colour.filled()))?,
                Shape::Disc { centre, radius, colour } => {
                    area.draw(&Circle::new(*centre, *radius, colour.filled()))?;
                }
                Shape::Text { at, text, size, weight, colour, anchor } => {
                    area.draw(&Text::new(
                        text.as_str(),
                        lowered(*at, *size, *anchor),
                        style(*size, *weight, *colour, *anchor),
                    ))?;
                }
            }
        }
        Ok(())
    }
}

type Failure<D> = plotters::drawing::DrawingAreaErrorKind<<D as DrawingBackend>::ErrorType>;

fn style(size: i32, weight: Weight, colour: RGBColor, anchor: Anchor) -> TextStyle<'static> {
    let weight = match weight {
        Weight::Regular => FontStyle::Normal,
        Weight::Bold => FontStyle::Bold,
    };
    // The SVG backend of plotters divides sizes by 1.24; this undoes it, so that sizes are pixels.
    let font = FontDesc::new(FontFamily::Name(FAMILY), f64::from(size) * 1.24, weight);
    let (font, across) = match anchor {
        Anchor::Left => (font, HPos::Left),
        Anchor::Middle => (font, HPos::Center),
        Anchor::Right => (font, HPos::Right),
        Anchor::Upwards => (font.transform(plotters::style::FontTransform::Rotate270), HPos::Center),
    };
    TextStyle { font, color: colour.to_backend_color(), pos: Pos::new(across, VPos::Center) }
}

/// plotters centres small letters; names and numbers are taller, so they look too high without this.
fn lowered((x, y): (i32, i32), size: i32, anchor: Anchor) -> (i32, i32) {
    match anchor {
        Anchor::Upwards => (x + size / 12, y),
        Anchor::Left | Anchor::Middle | Anchor::Right => (x, y + size / 12),
    }
}

fn mark((x, y): (i32, i32), r: i32, series: usize, colour: RGBColor) -> Shape {
    let points = match series % MARKS {
        0 => return Shape::Disc { centre: (x, y), radius: r, colour },
        1 => vec![(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)],
        2 => vec![(x, y - r - 2), (x + r + 2, y + r), (x - r - 2, y + r)],
        3 => vec![(x, y - r - 3), (x + r + 3, y), (x, y + r + 3), (x - r - 3, y)],
        4 => vec![(x, y + r + 2), (x + r + 2, y - r), (x - r - 2, y - r)],
        _ => {
            let t = r / 3;
            let arm = [(-t, -r), (t, -r), (t, -t), (r, -t), (r, t), (t, t), (t, r), (-t, r), (-t, t), (-r, t)];
            arm.iter().chain(&[(-r, -t), (-t, -t)]).map(|(dx, dy)| (x + dx, y + dy)).collect()
        }
    };
    Shape::Polygon { points, colour }
}
