//! What the plots share: heading, legend, the axis from 0 to 100%, one row of a rate.

use std::ops::Range;

use laundromat_metrics::Counts;
use laundromat_session::PlantKind;
use laundromat_store::SummarizerKind;

use crate::data::{Pool, Tables};
use crate::font::{Fonts, Weight};
use crate::plots::scene::{Anchor, BAR, GRID, INK, SOFT, Scene, colour};
use crate::tally::{Rate, Spread};
use crate::text;

/// The interval of rates, for titles.
pub(crate) const WILSON: &str = "Wilson 95% interval";
/// Width of every plot.
pub(crate) const WIDTH: i32 = 1600;
/// Room at every edge.
pub(crate) const MARGIN: i32 = 40;
/// Size of titles.
pub(crate) const TITLE: i32 = 32;
/// Size of names and values.
pub(crate) const LABEL: i32 = 26;
/// Size of ticks, legends and notes; nothing is smaller.
pub(crate) const SMALL: i32 = 22;

/// From the axis down to the middle of its ticks: a point on the axis must not cover them.
const TICKS: i32 = 32;

/// Something drawn from a run.
pub(crate) struct PlotContext<'a> {
    /// The run.
    pub(crate) tables: &'a Tables<'a>,
    /// The embedded fonts.
    pub(crate) fonts: &'a Fonts,
}

/// An entry of a legend: its shape, its colour and its name.
pub(crate) struct Entry {
    /// Which shape.
    pub(crate) mark: usize,
    /// Which colour.
    pub(crate) colour: usize,
    /// What it stands for.
    pub(crate) name: String,
}

impl PlotContext<'_> {
    /// The summarizers as entries: the same shape and colour in every plot.
    pub(crate) fn summarizers(&self) -> Vec<Entry> {
        let summarizers = self.tables.manifest.summarizers.iter().enumerate();
        summarizers.map(|(place, it)| Entry { mark: place, colour: place, name: it.name.clone() }).collect()
    }

    /// Room for the arms' names: as much as the longest needs, up to `most`.
    pub(crate) fn names_width(&self, most: i32) -> i32 {
        let arms = self.tables.manifest.arms.iter();
        arms.map(|arm| self.fonts.width(&arm.name, LABEL, Weight::Regular)).max().unwrap_or(0).min(most)
    }

    /// The same with the attack, where there is only one.
    pub(crate) fn about_attack(&self) -> String {
        match self.tables.of_kind(PlantKind::Attack).as_slice() {
            [attack] => format!("{}, attack {}", self.about(), self.tables.manifest.attacks[*attack].name),
            _ => self.about(),
        }
    }

    /// Draws the title, the run's note and subtitles; hands back where the next thing may stand.
    pub(crate) fn heading(&self, scene: &mut Scene, title: &str, below: &[String]) -> i32 {
        let room = WIDTH - 2 * MARGIN;
        let note = &self.tables.manifest.note;
        scene.title = text::titled(title, note);
        let mut y = MARGIN + TITLE / 2;
        for line in self.fonts.wrap(title, TITLE, Weight::Bold, room) {
            scene.heading((MARGIN, y), &line, TITLE, Anchor::Left);
            y += TITLE + 10;
        }
        // A picture is passed on without its report, so what must be read before its numbers stands in it.
        let note = (!note.is_empty()).then(|| self.fonts.wrap(note, LABEL, Weight::Bold, room));
        for line in note.into_iter().flatten() {
            scene.heading((MARGIN, y), &line, LABEL, Anchor::Left);
            y += LABEL + 10;
        }
        let unusable = self.tables.mostly_unusable();
        for line in below.iter().chain(&unusable).flat_map(|line| self.fonts.wrap(line, SMALL, Weight::Regular, room)) {
            scene.text((MARGIN, y), &line, SMALL, SOFT, Anchor::Left);
            y += SMALL + 10;
        }
        y + 6
    }

    /// Draws a legend in as many lines as it needs; hands back where the next thing may stand.
    pub(crate) fn legend(&self, scene: &mut Scene, top: i32, entries: &[Entry]) -> i32 {
        let (mut x, mut y) = (MARGIN, top);
        for entry in entries {
            let name = self.fonts.fit(&entry.name, SMALL, Weight::Regular, WIDTH / 3);
            let wide = 34 + self.fonts.width(&name, SMALL, Weight::Regular) + 36;
            if x > MARGIN && x + wide > WIDTH - MARGIN {
                (x, y) = (MARGIN, y + SMALL + 14);
            }
            scene.mark((x + 11, y), 9, entry.mark, colour(entry.colour));
            scene.text((x + 34, y), &name, SMALL, INK, Anchor::Left);
            x += wide;
        }
        y + SMALL + 14
    }

    /// The number of runs and the kind of interval, for titles. `shown` holds what is drawn with its runs, as in
    /// `24` or `24 attacked and 24 clean`.
    pub(crate) fn basis(&self, shown: &[(Pool, String)], each: &str, interval: &str) -> String {
        let of = |kind| shown.iter().find(|(pool, _)| self.tables.kind(*pool) == kind).map(|(_, runs)| runs.as_str());
        match (of(SummarizerKind::Llm), of(SummarizerKind::Builtin)) {
            (Some(runs), None) => format!("n = {runs} runs {each}, {interval}"),
            (Some(runs), Some(other)) if runs == other => {
                format!("n = {runs} runs {each}, {interval}, none for a deterministic reader")
            }
            (Some(runs), Some(other)) => {
                format!("n = {runs} runs {each}, {interval}; deterministic reader: n = {other}, no interval")
            }
            (None, Some(runs)) => format!("n = {runs} runs {each}, no interval: deterministic reader"),
            (None, None) => "no runs".to_owned(),
        }
    }

    /// The run's name and what is not complete about it.
    pub(crate) fn about(&self) -> String {
        let (done, planned) = self.tables.progress();
        let name = &self.tables.manifest.name;
        if done == planned { format!("Run {name}") } else { format!("Run {name}: {done} of {planned} trials so far") }
    }
}

/// The axis of rates: which pixels are 0% and 100%.
#[derive(Debug, Clone)]
pub(crate) struct Axis {
    /// From 0% to 100%, left to right or bottom to top.
    pub(crate) pixels: Range<i32>,
}

impl Axis {
    /// The pixel of a rate.
    pub(crate) fn at(&self, rate: f64) -> i32 {
        let length = f64::from(self.pixels.end - self.pixels.start);
        self.pixels.start + (rate.clamp(0.0, 1.0) * length).round() as i32
    }

    /// Draws grid lines from `rows.start` down to `rows.end` and ticks under them.
    pub(crate) fn draw_across(&self, scene: &mut Scene, rows: &Range<i32>, steps: u32) {
        for step in 0..=steps {
            let rate = f64::from(step) / f64::from(steps);
            let x = self.at(rate);
            scene.line(
                (x, rows.start),
                (x, rows.end),
                if step == 0 { 3 } else { 1 },
                if step == 0 { SOFT } else { GRID },
            );
            scene.text((x, rows.end + TICKS), &format!("{:.0}%", rate * 100.0), SMALL, SOFT, Anchor::Middle);
        }
    }
}

/// Draws a rate as a bar with its whisker.
pub(crate) fn bar(scene: &mut Scene, axis: &Axis, y: i32, half: i32, rate: &Rate) {
    if let Some(value) = rate.rate {
        scene.bar((axis.at(0.0), y - half), (axis.at(value), y + half), BAR);
        // Drawn also at zero, where the bar has no area.
        scene.line((axis.at(value), y - half), (axis.at(value), y + half), 5, colour(0));
    }
    if let Spread::Wilson(interval) = rate.spread {
        scene.whisker(axis.at(interval.low), axis.at(interval.high), y, half / 2);
    }
}

/// The words at a rate's right: its counts as `show` writes them, or that there are none.
pub(crate) fn value(rate: &Rate, show: fn(Counts) -> String) -> String {
    rate.tally.counts().map_or_else(|| "none judged".to_owned(), show)
}
