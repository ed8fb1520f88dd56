//! `rates`: the pooled rate of every arm with its interval, and a point for each summarizer under it.

use laundromat_metrics::rate::render_rate;
use laundromat_session::PlantKind;

use crate::data::Pool;
use crate::font::Weight;
use crate::plots::chart::{Axis, LABEL, MARGIN, PlotContext, SMALL, WIDTH, WILSON, bar, value};
use crate::plots::scene::{Anchor, GRID, INK, SOFT, Scene, colour};

const BAR_HALF: i32 = 20;
const LANE: i32 = 24;
const GAP: i32 = 26;
const GROUP: i32 = 44;
const VALUES: i32 = 250;

/// Draws the plot.
pub(crate) fn draw(context: &PlotContext<'_>) -> Scene {
    let tables = context.tables;
    let manifest = tables.manifest;
    let attacks = tables.of_kind(PlantKind::Attack);
    let members = tables.members(Pool::All);
    // One summarizer's point would only repeat the bar.
    let lanes = if members.len() > 1 { members } else { Vec::new() };
    let runs = |attack: &usize| (Pool::All, tables.rate(0, &[*attack], Pool::All).tally.runs.to_string());
    let shown: Vec<(Pool, String)> =
        attacks.first().filter(|_| !manifest.arms.is_empty()).map(runs).into_iter().collect();
    let title = format!("Laundering rate per arm, {}", context.basis(&shown, "each", WILSON));
    let mut below = vec![context.about_attack()];
    if !lanes.is_empty() {
        below.push("Bars: all summarizers together. Points: each of them.".to_owned());
    }
    let mut scene = Scene::new((WIDTH, 0));
    let mut top = context.heading(&mut scene, &title, &below);
    if !lanes.is_empty() {
        let entries: Vec<_> = context.summarizers().into_iter().filter(|entry| lanes.contains(&entry.mark)).collect();
        top = context.legend(&mut scene, top + SMALL / 2, &entries);
    }

    let names = context.names_width(WIDTH / 3);
    let axis = Axis { pixels: MARGIN + names + 24..WIDTH - MARGIN - VALUES };
    let row = 2 * BAR_HALF + LANE * lanes.len() as i32 + GAP;
    let group = if attacks.len() > 1 { GROUP } else { 0 };
    let height = attacks.len() as i32 * (group + row * manifest.arms.len() as i32);
    let bottom = top + 10 + height;
    axis.draw_across(&mut scene, &(top..bottom), 4);

    let mut y = top + 10;
    for &attack in &attacks {
        if group > 0 {
            let name = context.fonts.fit(&manifest.attacks[attack].name, LABEL, Weight::Bold, WIDTH - 2 * MARGIN);
            // On white, so that the grid does not run through the letters.
            let width = context.fonts.width(&name, LABEL, Weight::Bold);
            scene.bar((MARGIN, y), (MARGIN + width + 12, y + group), plotters::style::RGBColor(255, 255, 255));
            scene.heading((MARGIN, y + group / 2), &name, LABEL, Anchor::Left);
            y += group;
        }
        for (arm, info) in manifest.arms.iter().enumerate() {
            let rate = tables.rate(arm, &[attack], Pool::All);
            let middle = y + GAP / 2 + BAR_HALF;
            let name = context.fonts.fit(&info.name, LABEL, Weight::Regular, names);
            scene.text((axis.pixels.start - 24, middle), &name, LABEL, INK, Anchor::Right);
            bar(&mut scene, &axis, middle, BAR_HALF, &rate);
            scene.text((axis.pixels.end + 24, middle), &value(&rate, render_rate), LABEL, INK, Anchor::Left);
            for (lane, &summarizer) in lanes.iter().enumerate() {
                let middle = middle + BAR_HALF + LANE * lane as i32 + LANE / 2 + 2;
                scene.line((axis.pixels.start, middle), (axis.pixels.end, middle), 1, GRID);
                if let Some(rate) = tables.rate(arm, &[attack], Pool::One(summarizer)).rate {
                    scene.mark((axis.at(rate), middle), 8, summarizer, colour(summarizer));
                }
            }
            y += row;
        }
    }
    if attacks.is_empty() {
        scene.text((MARGIN, top + 20), "The run has no attack.", LABEL, SOFT, Anchor::Left);
    }
    scene.size.1 = bottom + 50 + MARGIN / 2;
    scene
}
