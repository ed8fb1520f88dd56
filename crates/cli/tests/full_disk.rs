//! A full disk stops a run with a clear message, and nothing that was committed is lost. Needs to mount a
//! small file system, so it is skipped where that is not allowed.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{laundromat, repo};
use laundromat_store::Run;

/// A small file system that is unmounted when the test ends.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(folder: &Path, size: &str) -> Option<Self> {
        fs::create_dir_all(folder).ok()?;
        let options = format!("size={size}");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(folder).output().ok()?;
        mounted.status.success().then(|| Self(folder.to_owned()))
    }

    fn resize(&self, size: &str) {
        let options = format!("remount,size={size}");
        assert!(Command::new("mount").args(["-o", &options]).arg(&self.0).status().expect("mount").success());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_is_said_and_nothing_committed_is_lost() {
    let temp = tempfile::tempdir().expect("a folder");
    let run = |out: &Path| {
        let mut command = laundromat();
        command.arg("run").arg(repo("scenarios/quickstart.toml")).args(["--date", "2026-03-04", "--out"]).arg(out);
        command
    };
    let whole = temp.path().join("whole");
    run(&whole).assert().success();
    let size = fs::metadata(whole.join("run.sqlite")).expect("a store").len();
    // Requests are stored ahead of trials, and the log holds pages again and again: how much has to fit until some
    // trials are stored is tried out.
    let mut percent = 60;
    let (disk, full) = loop {
        let bytes = (size * percent / 100).to_string();
        let Some(disk) = SmallDisk::mount(&temp.path().join("disk"), &bytes) else {
            println!("skipped: no small file system can be mounted here");
            return;
        };
        let full = run(&disk.0.join("run")).output().expect("it runs");
        if Run::open(&disk.0.join("run")).is_ok_and(|run| run.trials().is_ok_and(|trials| !trials.is_empty())) {
            break (disk, full);
        }
        percent += 20;
    };
    let out = disk.0.join("run");
    let said = String::from_utf8_lossy(&full.stderr).into_owned();
    assert_eq!(full.status.code(), Some(1), "{said}");
    assert!(said.contains("run.sqlite: the store failed") && said.contains("is full"), "{said}");
    assert!(said.contains("what was committed before is kept"), "{said}");

    disk.resize("64m");
    let resumed = run(&out).assert().success();
    let notes = String::from_utf8_lossy(&resumed.get_output().stderr).into_owned();
    assert!(!notes.starts_with("96 trials to run"), "some trials were stored before: {notes}");
    for name in ["report.md", "trials.csv", "rates.csv", "recall.csv", "plots/rates.png"] {
        assert!(fs::read(out.join(name)).expect(name) == fs::read(whole.join(name)).expect(name), "{name} differs");
    }
}
