//! The embedded font: measuring text and turning a drawing into paths and pixels.
//!
//! No font of the machine is ever read, so a plot has the same bytes everywhere. The files under `assets/`
//! are DejaVu Sans, cut down to Latin, Greek, arrows, dashes and comparison signs; a letter that is not in
//! them is drawn as an empty box.

use std::sync::Arc;

use png::{BitDepth, ColorType, Compression, Encoder, EncodingError};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Indent, Options, Tree, WriteOptions, fontdb};

use crate::escape;

/// The family's name, as it stands in the font files.
pub(crate) const FAMILY: &str = "DejaVu Sans";

const FILES: [&[u8]; 2] = [include_bytes!("../assets/DejaVuSans.ttf"), include_bytes!("../assets/DejaVuSans-Bold.ttf")];

/// Most pixels of a PNG from top to bottom.
const TALLEST: f32 = 12_000.0;

/// How heavy letters are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    /// The usual.
    Regular,
    /// For titles.
    Bold,
}

impl Weight {
    fn css(self) -> &'static str {
        match self {
            Self::Regular => "normal",
            Self::Bold => "bold",
        }
    }
}

/// A drawing in both of its forms.
#[derive(Debug)]
pub(crate) struct Rendered {
    /// SVG, its text turned into paths.
    pub(crate) svg: String,
    /// The same as PNG.
    pub(crate) png: Vec<u8>,
}

/// The embedded fonts, ready to use.
pub(crate) struct Fonts {
    options: Options<'static>,
}

impl Fonts {
    /// Loads the embedded files.
    pub(crate) fn load() -> Self {
        let mut database = fontdb::Database::new();
        for file in FILES {
            database.load_font_data(file.to_vec());
        }
        let options = Options { font_family: FAMILY.to_owned(), fontdb: Arc::new(database), ..Options::default() };
        Self { options }
    }

    /// Width of `text` in pixels, rounded up.
    pub(crate) fn width(&self, text: &str, size: i32, weight: Weight) -> i32 {
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1\" height=\"1\"><text xml:space=\"preserve\" \
             font-size=\"{size}\" font-weight=\"{}\">{}</text></svg>",
            weight.css(),
            escape::xml(text)
        );
        // A text that cannot be laid out, such as an empty one, takes no room.
        Tree::from_str(&svg, &self.options)
            .ok()
            .and_then(|tree| tree.root().children().first().map(|node| node.bounding_box().width().ceil() as i32))
            .unwrap_or(0)
    }

    /// `text`, with its middle left out where it is wider than `room`: names often differ at their ends.
    pub(crate) fn fit(&self, text: &str, size: i32, weight: Weight, room: i32) -> String {
        let text = escape::visible(text);
        if self.width(&text, size, weight) <= room {
            return text.into_owned();
        }
        let letters: Vec<char> = text.chars().collect();
        let shortened = |kept: usize| -> String {
            let head = kept.div_ceil(2);
            letters[..head].iter().chain(&['…']).chain(&letters[letters.len() - (kept - head)..]).collect()
        };
        // Halving keeps the number of measurements low for names of any length.
        let (mut fits, mut wide) = (0, letters.len());
        while wide - fits > 1 {
            let middle = usize::midpoint(fits, wide);
            if self.width(&shortened(middle), size, weight) <= room { fits = middle } else { wide = middle }
        }
        shortened(fits)
    }

    /// `text` in lines no wider than `room`, broken at spaces.
    pub(crate) fn wrap(&self, text: &str, size: i32, weight: Weight, room: i32) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in escape::visible(text).split(' ') {
            let word = self.fit(word, size, weight, room);
            match lines.last_mut() {
                Some(line) if self.width(&format!("{line} {word}"), size, weight) <= room => {
                    line.push(' ');
                    line.push_str(&word);
                }
                _ => lines.push(word),
            }
        }
        lines
    }

    /// Renders an SVG with text to paths and pixels.
    pub(crate) fn render(&self, svg: &str, title: &str) -> Result<Rendered, String> {
        let tree = Tree::from_str(svg, &self.options).map_err(|error| error.to_string())?;
        // A very long plot is shrunk as a picture, or its pixels would not fit into memory; the SVG is whole.
        let scale = (TALLEST / tree.size().height()).min(1.0);
        let size = tree.size().to_int_size().scale_by(scale).ok_or("the plot has no size")?;
        let mut pixels = Pixmap::new(size.width(), size.height()).ok_or("the plot has no size")?;
        resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
        let png = png(pixels).map_err(|error| error.to_string())?;
        let written = tree.to_string(&WriteOptions {
            preserve_text: false,
            // A hundredth of a pixel is finer than any screen and keeps the file small.
            coordinates_precision: 2,
            transforms_precision: 4,
            indent: Indent::Spaces(1),
            ..WriteOptions::default()
        });
        Ok(Rendered { svg: titled(&written, title), png })
    }
}

/// A picture as PNG. At the encoder's own pace it takes longer than all the rest of a plot, for files little smaller.
fn png(pixels: Pixmap) -> Result<Vec<u8>, EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, pixels.width(), pixels.height());
    encoder.set_color(ColorType::Rgba);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::Fast);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&pixels.take_demultiplied())?;
    writer.finish()?;
    Ok(bytes)
}

/// Puts a `<title>` first in the drawing: the text is paths by now, and readers that speak need words.
fn titled(svg: &str, title: &str) -> String {
    match svg.split_once('>') {
        Some((open, rest)) => format!("{open} role=\"img\"><title>{}</title>{rest}", escape::xml(title)),
        None => svg.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Fonts, Weight};

    #[test]
    fn names_are_cut_in_the_middle_and_text_at_spaces() {
        let fonts = Fonts::load();
        assert_eq!(fonts.fit("short", 20, Weight::Regular, 400), "short");
        let long = "a-very-long-arm-name-that-does-not-fit-anywhere-v1";
        let cut = fonts.fit(long, 20, Weight::Regular, 200);
        assert!(cut.contains('…') && cut.ends_with("v1") && fonts.width(&cut, 20, Weight::Regular) <= 200, "{cut}");
        let lines = fonts.wrap("one two three four five six", 20, Weight::Bold, 120);
        assert!(lines.len() > 1 && lines.join(" ") == "one two three four five six");
        assert_eq!(fonts.width("", 20, Weight::Regular), 0);
    }

    #[test]
    fn text_becomes_paths_and_the_title_is_escaped() {
        let drawing = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"99\" height=\"40\">\
                       <text y=\"30\" font-family=\"DejaVu Sans\">n ≥ 3</text></svg>";
        let rendered = Fonts::load().render(drawing, "<script>").expect("renders");
        assert!(rendered.svg.contains("<path") && !rendered.svg.contains("<text"));
        assert!(rendered.svg.contains("<title>&lt;script&gt;</title>"));
        assert_eq!(&rendered.png[1..4], b"PNG");
        // Width and height of a PNG stand at its bytes 16 to 24.
        let tall = drawing.replace("\"40\"", "\"24000\"");
        let rendered = Fonts::load().render(&tall, "").expect("renders");
        assert_eq!(rendered.png[20..24], 12_000_u32.to_be_bytes());
    }
}
