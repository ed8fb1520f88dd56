//! `recall`: what a summary keeps of a clean session against what it launders of an attacked one.
//!
//! One point for each arm and summarizer: the arm is the colour, the summarizer the shape. A good arm is
//! low and to the right. Points that would cover each other are drawn side by side, and the plot says so.

use laundromat_session::PlantKind;

use crate::data::Pool;
use crate::font::Weight;
use crate::plots::chart::{Axis, Entry, MARGIN, PlotContext, SMALL, WIDTH};
use crate::plots::scene::{Anchor, GRID, INK, SOFT, Scene, colour};
use crate::text;

const HEIGHT: i32 = 640;
const LEGEND: i32 = 430;
const RADIUS: i32 = 11;

struct Point {
    arm: usize,
    summarizer: usize,
    recall: f64,
    rate: f64,
}

/// Draws the plot.
pub(crate) fn draw(context: &PlotContext<'_>) -> Scene {
    let tables = context.tables;
    let attacks = tables.of_kind(PlantKind::Attack);
    let points = points(context, &attacks);
    let title = format!("Identifier recall against laundering rate, {}", basis(context, &attacks));
    let mut below = vec![context.about_attack()];
    if attacks.len() > 1 {
        below.push(format!("Laundering over {} together", text::several(attacks.len(), "attack")));
    }
    let mut scene = Scene::new((WIDTH, 0));
    let top = context.heading(&mut scene, &title, &below) + 10;
    let bottom = top + HEIGHT;
    let left = MARGIN + 126;
    let across = Axis { pixels: left..WIDTH - MARGIN - LEGEND };
    let up = Axis { pixels: bottom..top };
    across.draw_across(&mut scene, &(top..bottom), 4);
    for step in 0..=4 {
        let rate = f64::from(step) / 4.0;
        let y = up.at(rate);
        scene.line(
            (left, y),
            (across.pixels.end, y),
            if step == 0 { 3 } else { 1 },
            if step == 0 { SOFT } else { GRID },
        );
        scene.text((left - 26, y), &format!("{:.0}%", rate * 100.0), SMALL, SOFT, Anchor::Right);
    }
    scene.text(((left + across.pixels.end) / 2, bottom + 70), "identifier recall (clean)", SMALL, INK, Anchor::Middle);
    scene.text((MARGIN + 8, (top + bottom) / 2), "laundering rate", SMALL, INK, Anchor::Upwards);

    let spread = place(&mut scene, &points, &across, &up);
    if points.is_empty() {
        let middle = ((left + across.pixels.end) / 2, (top + bottom) / 2);
        scene.text(middle, "No arm has both rates yet.", SMALL, SOFT, Anchor::Middle);
    }
    let ends = legend(context, &mut scene, top);
    let mut foot = bottom + 84;
    if spread {
        let note = "Points that would cover each other are drawn side by side.";
        scene.text((left, foot + 20), note, SMALL, SOFT, Anchor::Left);
        foot += 34;
    }
    scene.size.1 = foot.max(ends) + MARGIN;
    scene
}

fn points(context: &PlotContext<'_>, attacks: &[usize]) -> Vec<Point> {
    let tables = context.tables;
    let mut points = Vec::new();
    for arm in 0..tables.manifest.arms.len() {
        for summarizer in 0..tables.manifest.summarizers.len() {
            let pool = Pool::One(summarizer);
            let both = tables.fidelity(arm, pool).recall.zip(tables.rate(arm, attacks, pool).rate);
            points.extend(both.map(|(recall, rate)| Point { arm, summarizer, recall, rate }));
        }
    }
    points
}

/// How many runs stand behind a point; single trials may be missing from it.
fn basis(context: &PlotContext<'_>, attacks: &[usize]) -> String {
    let tables = context.tables;
    let clean = tables.of_kind(PlantKind::Clean);
    let summarizers = if tables.manifest.arms.is_empty() { 0 } else { tables.manifest.summarizers.len() };
    let shown = (0..summarizers).map(|summarizer| {
        let pool = Pool::One(summarizer);
        let runs = |attacks: &[usize]| tables.rate(0, attacks, pool).tally.runs;
        (pool, format!("{} attacked and {} clean", runs(attacks), runs(&clean)))
    });
    context.basis(&shown.collect::<Vec<_>>(), "a point", "intervals not drawn")
}

/// Draws the points; hands back whether some had to move aside.
fn place(scene: &mut Scene, points: &[Point], across: &Axis, up: &Axis) -> bool {
    let mut taken: Vec<(i32, i32)> = Vec::new();
    let mut moved = false;
    for point in points {
        let (mut x, y) = (across.at(point.recall), up.at(point.rate));
        while taken.iter().any(|&(tx, ty)| (tx - x).abs() < 2 * RADIUS && (ty - y).abs() < 2 * RADIUS) {
            moved = true;
            x += 2 * RADIUS + 4;
        }
        taken.push((x, y));
        scene.mark((x, y), RADIUS, point.summarizer, colour(point.arm));
    }
    moved
}

fn legend(context: &PlotContext<'_>, scene: &mut Scene, top: i32) -> i32 {
    let x = WIDTH - LEGEND;
    let mut y = top + 12;
    let black = 6;
    let arms = context.tables.manifest.arms.iter().enumerate();
    let arms = arms.map(|(place, arm)| Entry { mark: 1, colour: place, name: arm.name.clone() }).collect();
    let mut summarizers = context.summarizers();
    summarizers.iter_mut().for_each(|entry| entry.colour = black);
    let groups: [(&str, Vec<Entry>); 2] = [("Arm (colour)", arms), ("Summarizer (shape)", summarizers)];
    for (heading, entries) in groups {
        scene.heading((x, y), heading, SMALL, Anchor::Left);
        y += SMALL + 14;
        for entry in entries {
            let name = context.fonts.fit(&entry.name, SMALL, Weight::Regular, LEGEND - MARGIN - 34);
            scene.mark((x + 11, y), 9, entry.mark, colour(entry.colour));
            scene.text((x + 34, y), &name, SMALL, INK, Anchor::Left);
            y += SMALL + 12;
        }
        y += SMALL;
    }
    y
}
