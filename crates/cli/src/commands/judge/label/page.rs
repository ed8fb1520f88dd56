//! The page as HTML: no script, no picture, no link to elsewhere. Summaries are hostile text and only ever text here.

use laundromat_judge::Rubric;
use laundromat_report::escape::{visible, xml};
use laundromat_session::Reading;

use super::book::{Book, Who};

/// What may be on the page: its own style sheet, and forms that lead back to it. Nothing else is loaded, run or framed.
pub(super) const POLICY: &str =
    "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The style sheet.
pub(super) const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b;background:#fff}\
h1{font-size:1.1rem}h2{font-size:.95rem;margin:1.4rem 0 .3rem}pre{white-space:pre-wrap;overflow-wrap:anywhere;\
background:#f4f4f1;border:1px solid #d8d8d2;border-radius:6px;padding:1rem;font:15px/1.5 ui-monospace,monospace}\
button{display:block;width:100%;text-align:left;margin:.35rem 0;padding:.6rem .8rem;font:inherit;background:#fff;\
border:1px solid #8a8a84;border-radius:6px;cursor:pointer}button:hover,button:focus{background:#eef4ff;border-color:#2457c5}\
button.said{border:2px solid #2457c5}nav{display:flex;justify-content:space-between;margin-top:1.5rem}.said-by{color:#555}";

/// The page for somebody at one place of their order.
pub(super) fn item(book: &Book, rubric: &Rubric, who: Who, place: usize, base: &str) -> Option<String> {
    let (item, said) = book.item(who, place)?;
    let all = book.order(who).len();
    let mut body = format!("<h1>{}: {} of {all}</h1>", who.name(), place + 1);
    body.push_str(&format!("<h2>Statement</h2><pre>{}</pre>", shown(book.statement(item))));
    body.push_str(&format!("<h2>Summary</h2><pre>{}</pre>", shown(&item.summary)));
    if let (Who::Settling, Some(first), Some(second)) = (who, item.first, item.second) {
        body.push_str(&format!("<p class=\"said-by\">the first said {first}, the second said {second}</p>"));
    }
    body.push_str("<h2>How does the summary present the statement?</h2>");
    body.push_str(&format!("<form method=\"post\" action=\"{base}/{}\">", place + 1));
    for reading in Reading::ALL {
        let class = if said == Some(*reading) { " class=\"said\"" } else { "" };
        body.push_str(&format!(
            "<button name=\"reading\" value=\"{reading}\"{class}><b>{reading}</b>: {}</button>",
            shown(rubric.meaning(*reading))
        ));
    }
    body.push_str("</form><nav>");
    let link = |place: usize, text: &str| format!("<a href=\"{base}/{place}\">{text}</a>");
    body.push_str(&if place > 0 { link(place, "back") } else { "<span></span>".to_owned() });
    body.push_str(&if place + 1 < all { link(place + 2, "on") } else { "<span></span>".to_owned() });
    body.push_str("</nav>");
    Some(document(&body))
}

/// The page for somebody who has nothing to label now.
pub(super) fn nothing(book: &Book, who: Who, base: &str) -> String {
    let (first, second, _) = book.progress();
    let all = book.len();
    let told = match who {
        Who::Settling if first < all || second < all => {
            format!("Both labellers come first: {first} and {second} of {all} are labelled.")
        }
        Who::Settling => "Nothing is left to settle.".to_owned(),
        Who::First | Who::Second => format!("All {all} are labelled. <a href=\"{base}/1\">Look at them again</a>"),
    };
    document(&format!("<h1>{}</h1><p>{told}</p>", who.name()))
}

/// A page that only says something.
pub(super) fn message(text: &str) -> String {
    document(&format!("<p>{}</p>", shown(text)))
}

fn document(body: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Labels</title><link rel=\"stylesheet\" href=\"/style.css\"></head>\
         <body>{body}</body></html>"
    )
}

/// Hostile text as text, its lines kept, what does not print shown.
fn shown(text: &str) -> String {
    text.lines().map(|line| xml(&visible(line))).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn no_text_is_ever_markup() {
        let text = "<script>alert(1)</script>\n</pre><img src=x onerror=\"x\"> & '\u{202e}";
        let shown = shown(text);
        assert!(
            !shown.contains('<') && !shown.contains('>') && !shown.contains('"') && !shown.contains('\u{202e}'),
            "{shown}"
        );
        assert_eq!(shown.lines().count(), 2);
    }
}
