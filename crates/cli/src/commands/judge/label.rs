//! `judge label`: two people label summaries on a page of this machine, neither seeing the other's labels, and settle
//! where they differ. Every label is on disk before the next summary is shown.

mod book;
mod page;
mod server;

use std::fs;
use std::path::Path;

use laundromat_judge::Rubric;
use laundromat_judge::gold::GoldSet;
use laundromat_report::calibration::figures::agreement;

use crate::args::Label;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::terminal::{line, note};

use book::Book;
use server::Server;

pub(crate) fn run(args: &Label) -> Result<ExitCode, CliError> {
    let rubric = Rubric::standard()
        .map_err(|_| CliError::Internal("the rubric that comes with laundromat has faults".to_owned()))?;
    let set = read(&args.set)?;
    let stored = if args.out.exists() { Some(read(&args.out)?) } else { None };
    let book = Book::open(set, stored, args.out.clone())
        .map_err(|problem| CliError::Labels { path: args.out.clone(), problem })?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::Internal(format!("no runtime: {error}")))?;
    let book = runtime.block_on(async {
        let server = Server::start(args.port, book, rubric).await?;
        for (who, url) in server.pages() {
            line(&format!("{who:<16} {url}"));
        }
        note("hand one address to each labeller; interrupt to end, labels are saved as they are given");
        // Without a handler for it an interrupt ends the process anyway.
        let _ = tokio::signal::ctrl_c().await;
        Ok::<_, std::io::Error>(server.end())
    });
    let book = book.map_err(|error| CliError::Internal(format!("the page cannot be served: {error}")))?;
    let Some(book) = book else { return Err(CliError::Internal("the labels are gone".to_owned())) };
    told(&book);
    Ok(if book.is_settled() { ExitCode::Pass } else { ExitCode::Incomplete })
}

fn read(path: &Path) -> Result<GoldSet, CliError> {
    let text = fs::read_to_string(path).map_err(|source| CliError::Unreadable { path: path.to_owned(), source })?;
    GoldSet::parse(&text).map_err(|fault| CliError::Gold { path: path.to_owned(), fault })
}

/// How far it got, and how far the two agree before they settle anything.
fn told(book: &Book) {
    let (first, second, both) = book.progress();
    line(&format!("labelled by the first {first}, by the second {second}, by both {both} of {}", book.len()));
    match agreement(&book.table()) {
        Some((two, ac1)) => line(&format!(
            "agreement {:.1}%, kappa {:.3} [{:.3}, {:.3}], AC1 {:.3} [{:.3}, {:.3}]",
            two.observed * 100.0,
            two.cohen_kappa,
            two.kappa_interval.low,
            two.kappa_interval.high.min(1.0),
            ac1.ac1,
            ac1.interval.low,
            ac1.interval.high
        )),
        None => line("agreement is not defined yet: too few summaries are labelled by both, or all alike"),
    }
    line(&format!("to be settled: {}", book.disputed().len()));
}
