//! A full disk stops a run with a clear message, and nothing that was committed is lost. Needs to mount a
//! small file system, so it is skipped where that is not allowed.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{laundromat, repo};

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
    let Some(disk) = SmallDisk::mount(&temp.path().join("disk"), "2400k") else {
        println!("skipped: no small file system can be mounted here");
        return;
    };
    let out = disk.0.join("run");
    let run = || {
        let mut command = laundromat();
        command.arg("run").arg(repo("scenarios/quickstart.toml")).args(["--date", "2026-03-04", "--out"]).arg(&out);
        command
    };
    let full = run().output().expect("it runs");
    let said = String::from_utf8_lossy(&full.stderr).into_owned();
    assert_eq!(full.status.code(), Some(1), "{said}");
    assert!(said.contains("run.sqlite: the store failed") && said.contains("is full"), "{said}");
    assert!(said.contains("what was committed before is kept"), "{said}");

    disk.resize("64m");
    let resumed = run().assert().success();
    let notes = String::from_utf8_lossy(&resumed.get_output().stderr).into_owned();
    assert!(!notes.starts_with("96 trials to run"), "some trials were stored before: {notes}");
    let whole = temp.path().join("whole");
    laundromat()
        .arg("run")
        .arg(repo("scenarios/quickstart.toml"))
        .args(["--date", "2026-03-04", "--out"])
        .arg(&whole)
        .assert()
        .success();
    for name in ["report.md", "trials.csv", "rates.csv", "recall.csv", "plots/rates.png"] {
        assert!(fs::read(out.join(name)).expect(name) == fs::read(whole.join(name)).expect(name), "{name} differs");
    }
}
