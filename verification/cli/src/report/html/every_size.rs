//! What is proved for every size: a table of protocols, each with what follows from its invariant.

use crate::every_size::proved;
use crate::report::html::text::{Safe, number};
use std::fmt::Write as _;

pub(super) fn write(out: &mut String) {
    out.push_str(
        "<section id=\"every-size\" aria-labelledby=\"every-size-h\">\n<h2 id=\"every-size-h\">For every size</h2>\n\
         <p>Protocols as transition systems over any number of Ms, Ps and Gs, with an invariant that solvers have checked step by \
         step. The rest of this report is about models of a given size, on the source itself; how the two are tied stands in \
         docs/evidence/every-size.md.</p>\n\
         <div class=\"scroll\">\n<table>\n<thead><tr><th scope=\"col\">protocol</th><th scope=\"col\">verdict</th>\
         <th scope=\"col\">what follows</th><th scope=\"col\" class=\"n\">obligations</th>\
         <th scope=\"col\">solvers</th></tr></thead>\n<tbody>\n",
    );
    for proved in proved() {
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td><span class=\"chip {}\">{}</span></td><td>{}</td><td class=\"n\">{}</td><td>{}</td></tr>",
            Safe(&proved.protocol),
            if proved.is_of_this_source() { "proved" } else { "failed" },
            Safe(&proved.verdict()),
            Safe(&proved.follows().join(", ")),
            number(proved.obligations() as u64),
            Safe(&proved.solvers.join(", "))
        );
    }
    out.push_str("</tbody>\n</table>\n</div>\n</section>\n");
}
