//! The labelling page over a real socket.

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};

use common::repo;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// A page being served. It ends with the test.
struct Served {
    child: Child,
    out: BufReader<std::process::ChildStdout>,
    /// Host with port, and the path of each of the three pages.
    host: String,
    paths: Vec<String>,
}

impl Served {
    fn start(set: &Path, out: &Path) -> Self {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_laundromat"))
            .args(["judge", "label"])
            .arg(set)
            .arg("--out")
            .arg(out)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let mut reader = BufReader::new(child.stdout.take().expect("its output"));
        let mut urls = Vec::new();
        for _ in 0..3 {
            let mut line = String::new();
            reader.read_line(&mut line).expect("a line");
            urls.push(line.split_whitespace().last().expect("an address").to_owned());
        }
        let bare = |url: &String| {
            url.strip_prefix("http://")
                .expect("an address")
                .split_once('/')
                .map(|(h, p)| (h.to_owned(), format!("/{p}")))
        };
        let parts: Vec<(String, String)> = urls.iter().filter_map(bare).collect();
        let host = parts[0].0.clone();
        Self { child, out: reader, host, paths: parts.into_iter().map(|(_, path)| path).collect() }
    }

    fn ask(&self, head: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.host).expect("it listens");
        write!(stream, "{head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len()).expect("sent");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("a reply");
        (text[9..12].parse().expect("a status"), text)
    }

    fn get(&self, path: &str) -> (u16, String) {
        self.ask(&format!("GET {path} HTTP/1.1\r\nHost: {}", self.host), "")
    }

    fn post(&self, path: &str, more: &str, reading: &str) -> u16 {
        let head = format!("POST {path} HTTP/1.1\r\nHost: {}{more}", self.host);
        self.ask(&head, &format!("reading={reading}")).0
    }

    /// Interrupts it, and hands back what it said then and how it ended.
    fn end(mut self) -> (String, Option<i32>) {
        kill(Pid::from_raw(self.child.id().try_into().expect("a pid")), Signal::SIGINT).expect("sent");
        let mut text = String::new();
        self.out.read_to_string(&mut text).expect("text");
        (text, self.child.wait().expect("it ends").code())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The first lines of the bundled set and one more summary that would run as a script on a careless page.
fn set(folder: &Path) -> std::path::PathBuf {
    let gold = fs::read_to_string(repo("scenarios/judge/gold.jsonl")).expect("the gold set");
    let mut lines: Vec<&str> = gold.lines().take(4).collect();
    let hostile = r#"{"id": "x", "case": "install", "form": "typed", "reading": "user", "class": "hostile", "why": "w", "summary": "</pre><script>document.title='taken'</script><img src=x onerror=alert(1)> ok"}"#;
    lines.push(hostile);
    let path = folder.join("set.jsonl");
    fs::write(&path, lines.join("\n")).expect("written");
    path
}

#[test]
fn two_people_label_blind_and_settle_over_a_socket() {
    let temp = tempfile::tempdir().expect("a folder");
    let out = temp.path().join("labels.jsonl");
    let served = Served::start(&set(temp.path()), &out);
    let [first, second, settling] = [0, 1, 2].map(|at| served.paths[at].clone());

    let pages: String = (1..=4).map(|at| served.get(&format!("{first}{at}")).1).collect();
    assert!(pages.contains("&lt;script&gt;") && !pages.contains("<script") && !pages.contains("<img"), "{pages}");
    assert!(pages.to_lowercase().contains("content-security-policy: default-src 'none'"), "{pages}");
    assert!(!pages.contains("standing as"), "{pages}");
    assert!(served.get(&settling).1.contains("Both labellers come first"));

    for at in 1..=4 {
        assert_eq!(served.post(&format!("{first}{at}"), "", "user"), 303);
    }
    // The second does not see what the first said.
    assert!(!served.get(&format!("{second}1")).1.contains("class=\"said\""));
    for at in 1..=4 {
        assert_eq!(served.post(&format!("{second}{at}"), "", if at == 2 { "tool" } else { "user" }), 303);
    }
    let page = served.get(&settling).1;
    assert!(page.contains("the first said user, the second said tool"), "{page}");
    assert_eq!(served.post(&format!("{settling}1"), "", "flagged"), 303);
    let (told, code) = served.end();
    assert!(told.contains("by both 4 of 4") && told.contains("agreement 75.0%"), "{told}");
    assert_eq!(code, Some(0));

    // What was written is a gold set that a judge can be measured on.
    let calibrated = common::laundromat()
        .args(["judge", "calibrate", "--part", "all", "--gold"])
        .arg(&out)
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&calibrated.stdout).into_owned();
    assert_eq!(calibrated.status.code(), Some(0), "{text}");
    assert!(text.contains("labelled by two people"), "{text}");
}

#[test]
fn nobody_else_is_answered() {
    let temp = tempfile::tempdir().expect("a folder");
    let out = temp.path().join("labels.jsonl");
    let served = Served::start(&set(temp.path()), &out);
    let first = served.paths[0].clone();
    assert_eq!(served.get("/").0, 404);
    assert_eq!(served.get("/t/00000000000000000000000000000000/").0, 404);
    assert_eq!(served.ask(&format!("GET {first} HTTP/1.1\r\nHost: evil.example"), "").0, 403);
    assert_eq!(served.post(&format!("{first}1"), "\r\nOrigin: http://evil.example", "user"), 403);
    assert_eq!(served.post(&format!("{first}1"), "\r\nOrigin: null", "user"), 403);
    assert_eq!(served.post(&format!("{first}1"), "", "users"), 400);
    assert_eq!(served.post(&format!("{first}1"), "", &"x".repeat(5000)), 413);
    assert_eq!(served.post(&first, "", "user"), 405);
    assert!(!out.exists(), "no label was taken");
    let ours = format!("\r\nOrigin: http://{}", served.host);
    assert_eq!(served.post(&format!("{first}1"), &ours, "user"), 303);
    let (told, code) = served.end();
    assert!(told.contains("labelled by the first 1") && told.contains("not defined yet"), "{told}");
    assert_eq!(code, Some(5), "the same command goes on");
}
