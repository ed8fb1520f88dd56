//! Files are read in any order, and sessions get their names in the order of the files: of two sessions
//! with one id the first has it, however fast each was read.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::files::FileReport;

/// Whose turn it is to give names.
#[derive(Default)]
pub(super) struct Order(Mutex<Queue>);

#[derive(Default)]
struct Queue {
    /// All files before this one are done.
    front: usize,
    waiting: BTreeMap<usize, FileReport>,
    done: Vec<FileReport>,
}

impl Order {
    /// Gives names to what a file has so far, if all files before it are done.
    pub(super) fn front(&self, index: usize, report: &mut FileReport) {
        // Only this file can move the front past itself, so that the lock need not be held.
        if self.lock().front == index {
            report.commit();
        }
    }

    /// A file is done.
    pub(super) fn finish(&self, index: usize, report: FileReport) {
        let mut queue = self.lock();
        queue.waiting.insert(index, report);
        loop {
            let front = queue.front;
            let Some(mut report) = queue.waiting.remove(&front) else { return };
            report.commit();
            queue.done.push(report);
            queue.front += 1;
        }
    }

    /// All files in order.
    pub(super) fn into_reports(self) -> Vec<FileReport> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner).done
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
