//! The plots: each a pure function from a run to a drawing, written as SVG and as PNG.
//!
//! [`chart`] is what they share, [`scene`] the shapes and the way to SVG. Another plot is one file and one
//! row of [`PLOTS`].

pub(crate) mod chart;
pub(crate) mod models;
pub(crate) mod rates;
pub(crate) mod recall;
pub(crate) mod scene;

use crate::error::ReportError;
use crate::font::Rendered;
use crate::plots::chart::PlotContext;
use crate::plots::scene::Scene;

/// A plot of a run.
pub(crate) struct Plot {
    /// Name of its files.
    pub(crate) name: &'static str,
    /// What it shows, for the report.
    pub(crate) caption: &'static str,
    draw: fn(&PlotContext<'_>) -> Scene,
}

/// Every plot, in the order of the report.
pub(crate) const PLOTS: &[Plot] = &[
    Plot { name: "rates", caption: "Laundering rate per arm", draw: rates::draw },
    Plot { name: "models", caption: "Laundering rate per summarizer and arm", draw: models::draw },
    Plot { name: "recall", caption: "Identifier recall against laundering rate", draw: recall::draw },
];

impl Plot {
    /// Draws the plot in both of its forms.
    pub(crate) fn render(&self, context: &PlotContext<'_>) -> Result<Rendered, ReportError> {
        let failed = |what| ReportError::Plot { name: self.name, what };
        let scene = (self.draw)(context);
        let svg = scene.to_svg().map_err(failed)?;
        context.fonts.render(&svg, &scene.title).map_err(failed)
    }
}
