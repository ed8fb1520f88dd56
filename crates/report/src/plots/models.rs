//! `models`: one panel for each summarizer and attack, the arms as rows, so that a pooled rate hides nothing.

use std::ops::Range;

use laundromat_session::PlantKind;

use crate::data::Pool;
use crate::font::Weight;
use crate::plots::chart::{Axis, LABEL, MARGIN, PlotContext, SMALL, WIDTH, WILSON, bar, value};
use crate::plots::scene::{Anchor, INK, SOFT, Scene, colour};
use crate::text;

const COLUMNS: usize = 3;
const BAR_HALF: i32 = 17;
const ROW: i32 = 58;
const PANEL_HEADING: i32 = 48;
const PANEL_FOOT: i32 = 70;
const BETWEEN: i32 = 36;
/// From a panel's edge to its name; the mark stands there.
const NAME: i32 = 34;

/// Draws the plot.
pub(crate) fn draw(context: &PlotContext<'_>) -> Scene {
    let tables = context.tables;
    let manifest = tables.manifest;
    let attacks = tables.of_kind(PlantKind::Attack);
    let summarizers: Vec<usize> = (0..manifest.summarizers.len()).collect();
    let runs = |summarizer: &usize| {
        let pool = Pool::One(*summarizer);
        (pool, tables.rate(0, &attacks[..1], pool).tally.runs.to_string())
    };
    let shown: Vec<(Pool, String)> = if attacks.is_empty() || manifest.arms.is_empty() {
        Vec::new()
    } else {
        summarizers.iter().map(runs).collect()
    };
    let title = format!("Laundering rate per summarizer and arm, {}", context.basis(&shown, "each", WILSON));
    let mut scene = Scene::new((WIDTH, 0));
    let mut y = context.heading(&mut scene, &title, &[context.about_attack()]);

    let names = context.names_width(WIDTH / 4);
    let left = MARGIN + names + 24;
    let (columns, width) = grid(context, WIDTH - MARGIN - left);
    let values = context.fonts.width(&widest(context), SMALL, Weight::Regular) + 20;
    for &attack in &attacks {
        if attacks.len() > 1 {
            let name = format!("Attack {}", manifest.attacks[attack].name);
            let name = context.fonts.fit(&name, LABEL, Weight::Bold, WIDTH - 2 * MARGIN);
            y += PANEL_HEADING / 2;
            scene.heading((MARGIN, y), &name, LABEL, Anchor::Left);
            y += PANEL_HEADING / 2;
        }
        for band in summarizers.chunks(columns) {
            let top = y + PANEL_HEADING;
            for (arm, info) in manifest.arms.iter().enumerate() {
                let name = context.fonts.fit(&info.name, LABEL, Weight::Regular, names);
                scene.text((left - 24, top + ROW * arm as i32 + ROW / 2), &name, LABEL, INK, Anchor::Right);
            }
            for (column, &summarizer) in band.iter().enumerate() {
                let start = left + (width + BETWEEN) * column as i32;
                draw_panel(context, &mut scene, (attack, summarizer), start..start + width, top, values);
            }
            y = top + ROW * manifest.arms.len() as i32 + PANEL_FOOT;
        }
    }
    if attacks.is_empty() {
        scene.text((MARGIN, y + 20), "The run has no attack.", LABEL, SOFT, Anchor::Left);
        y += PANEL_HEADING;
    }
    scene.size.1 = y + MARGIN / 2;
    scene
}

/// As many columns as leave every summarizer its whole name, and their width: cut names look alike.
fn grid(context: &PlotContext<'_>, room: i32) -> (usize, i32) {
    let summarizers = &context.tables.manifest.summarizers;
    let widths = summarizers.iter().map(|it| context.fonts.width(&it.name, LABEL, Weight::Bold));
    let needed = widths.max().unwrap_or(0) + NAME;
    let width = |columns: usize| (room - BETWEEN * (columns as i32 - 1)) / columns as i32;
    let most = COLUMNS.min(summarizers.len()).max(1);
    let columns = (1..=most).rev().find(|&columns| width(columns) >= needed).unwrap_or(1);
    (columns, width(columns))
}

fn widest(context: &PlotContext<'_>) -> String {
    let rates = context.tables.rates.iter().filter(|row| row.pool != Pool::All);
    let values = rates.map(|row| value(&row.rate, text::fraction));
    values.max_by_key(|text| text.chars().count()).unwrap_or_default()
}

fn draw_panel(
    context: &PlotContext<'_>,
    scene: &mut Scene,
    (attack, summarizer): (usize, usize),
    across: Range<i32>,
    top: i32,
    values: i32,
) {
    let tables = context.tables;
    let manifest = tables.manifest;
    let axis = Axis { pixels: across.start..across.end - values };
    let name = &manifest.summarizers[summarizer].name;
    let name = context.fonts.fit(name, LABEL, Weight::Bold, across.end - across.start - NAME);
    let middle = top - PANEL_HEADING / 2;
    scene.mark((across.start + 11, middle), 9, summarizer, colour(summarizer));
    scene.heading((across.start + NAME, middle), &name, LABEL, Anchor::Left);
    let rows = ROW * manifest.arms.len() as i32;
    axis.draw_across(scene, &(top..top + rows), 2);
    for arm in 0..manifest.arms.len() {
        let rate = tables.rate(arm, &[attack], Pool::One(summarizer));
        let middle = top + ROW * arm as i32 + ROW / 2;
        bar(scene, &axis, middle, BAR_HALF, &rate);
        scene.text((axis.pixels.end + 16, middle), &value(&rate, text::fraction), SMALL, INK, Anchor::Left);
    }
}
