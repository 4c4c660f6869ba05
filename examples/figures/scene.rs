//! A moment as a picture: Ms as triangles, Ps as boxes, the G that executes between them, the queues beside.

use super::stage::{Does, Proc, Stage, Thread};
use super::svg::{BLOCKED, FAINT, INK, PAPER, RUNS, Svg, WAITS};

const HEIGHT: i32 = 290;
/// The column on the left, with what belongs to no P.
const LEFT: i32 = 190;
const OF_P: i32 = 270;
const ALONE: i32 = 150;
const APART: i32 = 44;
const M: i32 = 56;
const G: i32 = 150;
const P: i32 = 204;

/// Draws it, under this title. With the poller, if it plays a part.
pub(crate) fn draw(title: &str, stage: &Stage, with_poller: bool) -> String {
    let alone: Vec<_> = stage.ms.iter().filter(|m| m.p.is_none()).collect();
    let width = LEFT + ALONE * alone.len() as i32 + OF_P * stage.ps.len() as i32;
    let mut svg = Svg::new(width);
    svg.title(title);
    svg.describe(&stage.lines().join("; "));
    shard(&mut svg, M, "GRQ", &stage.grq);
    if with_poller {
        shard(&mut svg, 180, "network poller", &stage.poller);
    }
    let mut x = LEFT;
    for m in alone {
        thread(&mut svg, x + ALONE / 2, m);
        x += ALONE;
    }
    for (n, p) in stage.ps.iter().enumerate() {
        proc(&mut svg, x, p, stage.ms.iter().find(|m| m.p == Some(n)));
        x += OF_P;
    }
    svg.end(HEIGHT)
}

/// A box of Gs that belong to no P.
fn shard(svg: &mut Svg, y: i32, name: &str, gs: &[&str]) {
    svg.rect([20, y + 24, 140, 62], FAINT, PAPER);
    svg.text(90, y + 16, INK, name);
    match gs {
        [] => svg.text(90, y + 60, FAINT, "empty"),
        gs => gs.iter().zip(0..).for_each(|(g, n)| svg.circle(54 + n * APART, y + 55, WAITS, g)),
    }
}

fn thread(svg: &mut Svg, x: i32, m: &Thread) {
    let (ink, words) = match m.does {
        Does::Executes => (RUNS, "executes"),
        Does::IsBlocked => (BLOCKED, "blocked"),
        Does::WaitsForP => (WAITS, "waits for P"),
        Does::Seeks => (WAITS, "looks for a G"),
        Does::Sleeps => (FAINT, "idle, and kept"),
    };
    svg.triangle(x, M, ink, &m.name);
    match m.g {
        Some(g) => {
            svg.line([x, M + 58, x, G - 19], ink);
            svg.circle(x, G, ink, g);
        }
        None if m.p.is_some() => svg.line([x, M + 58, x, P], FAINT),
        None => (),
    }
    match m.p {
        Some(_) => svg.text(x + 74, G + 5, ink, words),
        None => svg.text(x, G + 45, ink, words),
    }
}

fn proc(svg: &mut Svg, x: i32, p: &Proc, m: Option<&Thread>) {
    let middle = x + 50;
    if let Some(m) = m {
        thread(svg, middle, m);
        if m.g.is_some() {
            svg.line([middle, G + 19, middle, P], RUNS);
        }
    }
    svg.rect([x + 15, P, 70, 60], INK, PAPER);
    svg.text(middle, P + 36, INK, &p.name);
    svg.text(x + 165, P - 12, FAINT, "LRQ");
    svg.rect([x + 95, P, 145, 60], FAINT, PAPER);
    match &p.lrq[..] {
        [] => svg.text(x + 167, P + 36, FAINT, "empty"),
        gs => gs.iter().zip(0..).for_each(|(g, n)| svg.circle(x + 123 + n * APART, P + 30, INK, g)),
    }
}
