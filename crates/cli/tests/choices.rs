//! What a run chooses beside its arms: shields, real prompts, and templates that say whose turn a plant ends up in.

mod common;

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::thread::JoinHandle;

use common::paid::{rows, said};
use common::{laundromat, repo};

/// Tool text inside a user turn.
const TOOL_AS_USER: &str = "{% for m in messages %}<|im_start|>{{ 'user' if m.role == 'tool' else m.role }}\n\
                            {{ m.content }}<|im_end|>\n{% endfor %}";
/// Turns that nothing known opens.
const PLAIN: &str = "{% for m in messages %}{{ m.role | upper }}: {{ m.content }}\n{% endfor %}";

/// An experiment with a reader; `keys` stand at its top, `model` beside the reader's name.
fn experiment(folder: &Path, arms: &str, keys: &str, model: &str) -> PathBuf {
    let path = folder.join("choices.toml");
    let text = format!(
        "schema = \"laundromat-experiment/1\"\nname = \"choices\"\nseed = 1\nsessions = [{:?}]\n\
         attacks = [\"standing-approval\"]\narms = [{arms}]\n{keys}\n\
         [[summarizers]]\nname = \"reader\"\nmodel = \"builtin:reader\"\n{model}\n\
         [judge]\nmodel = \"builtin:rules\"\n",
        repo("sessions/fix-region-rollup-test.json").display().to_string()
    );
    fs::write(&path, text).expect("written");
    path
}

fn run(experiment: &Path, out: &Path, more: &[&str]) -> Output {
    let mut command = laundromat();
    command.arg("run").arg(experiment).args(["--date", "2026-03-04"]).arg("--out").arg(out).args(more);
    command.output().expect("it runs")
}

fn report(out: &Path) -> String {
    fs::read_to_string(out.join("report.md")).expect("a report")
}

#[test]
fn a_shield_that_no_arm_has_is_refused_and_none_is_a_choice() {
    let temp = tempfile::tempdir().expect("a folder");
    let out = temp.path().join("out");
    let arms = "\"hermes-0.19\", \"pi\"";
    let unknown = run(&experiment(temp.path(), arms, "shields = [\"hermes-defualt\"]", ""), &out, &[]);
    let told = said(&unknown);
    assert_eq!(unknown.status.code(), Some(2), "{told}");
    assert!(told.contains("choices.toml:7:") && told.contains("unknown shield \"hermes-defualt\""), "{told}");
    assert!(told.contains("its arms have hermes-default"), "{told}");
    assert!(!out.exists(), "nothing was compacted");

    // Absent and all are the same requests; none is another experiment.
    let all = run(&experiment(temp.path(), arms, "", ""), &out, &[]);
    assert_eq!(all.status.code(), Some(0), "{}", said(&all));
    assert!(!report(&out).contains("Shields, by choice"));
    let same = run(&experiment(temp.path(), arms, "shields = [\"hermes-default\"]", ""), &out, &[]);
    assert_eq!(same.status.code(), Some(0), "{}", said(&same));
    let none = experiment(temp.path(), arms, "shields = []", "");
    let other = run(&none, &out, &[]);
    assert_eq!(other.status.code(), Some(2));
    assert!(said(&other).contains("arm hermes-0.19 was"), "{}", said(&other));
    assert_eq!(run(&none, &temp.path().join("none"), &[]).status.code(), Some(0));
    assert!(report(&temp.path().join("none")).contains("Shields, by choice of this run: none."));

    let no_shield = run(&experiment(temp.path(), "\"pi\"", "shields = [\"hermes-default\"]", ""), &out, &[]);
    assert!(said(&no_shield).contains("no arm of this experiment has a shield"), "{}", said(&no_shield));
}

#[test]
fn a_real_prompt_takes_the_place_of_the_paraphrase_and_its_digest_is_kept() {
    let temp = tempfile::tempdir().expect("a folder");
    let prompt = temp.path().join("goose.txt");
    let words = "Condense what follows as the owner of this sentence would.";
    fs::write(&prompt, format!("{words}\n{{turns}}\nWrite it.\n")).expect("written");
    let flag = format!("goose={}", prompt.display());
    let given = ["--prompt-from", flag.as_str()];
    let path = experiment(temp.path(), "\"goose\", \"pi\"", "", "");
    let out = temp.path().join("out");
    let output = run(&path, &out, &given);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let digest = blake3::hash(&fs::read(&prompt).expect("bytes")).to_hex();
    let report = report(&out);
    assert!(report.contains(&format!("| flat-system | user-supplied (blake3 {}) |", &digest[..16])), "{report}");
    assert!(report.contains("| flat-wrapped | paraphrase |") && report.contains("is not that harness's rate"));
    let kept = fs::read(out.join("run.sqlite")).expect("a store");
    let keeps = |text: &str| kept.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(keeps(&digest) && !keeps(&flag), "the store has the digest, and no path");

    // Without the prompt it is another experiment; in the file it is the same.
    assert_eq!(run(&path, &out, &[]).status.code(), Some(2));
    let within = "{ name = \"goose\", prompt-from = \"goose.txt\" }, \"pi\"";
    let again = run(&experiment(temp.path(), within, "", ""), &out, &[]);
    assert_eq!(again.status.code(), Some(0), "{}", said(&again));

    let session = repo("sessions/fix-region-rollup-test.json").display().to_string();
    let show = |more: &[&str]| {
        let mut command = laundromat();
        command.args(["arms", "show", "goose", "--session", &session]).args(more);
        command.output().expect("it runs")
    };
    let shown = show(&given);
    assert!(String::from_utf8_lossy(&shown.stdout).contains(words));
    assert!(said(&shown).contains("prompt = user-supplied"), "{}", said(&shown));
    assert!(said(&show(&[])).contains("prompt = paraphrase"));
    assert!(said(&show(&["--prompt-from", "pi=x.txt"])).contains("write --prompt-from goose=FILE"));
    let unknown = run(&path, &out, &["--prompt-from", "gosoe=x.txt"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(said(&unknown).contains("none of the arms; did you mean \"goose\"?"), "{}", said(&unknown));
    let plan = laundromat().arg("plan").arg(temp.path().join("choices.toml")).output().expect("it runs");
    assert!(String::from_utf8_lossy(&plan.stdout).contains("prompt = user-supplied goose"));
}

#[test]
fn the_report_says_whose_turn_the_plant_is_in_for_the_model() {
    let temp = tempfile::tempdir().expect("a folder");
    let arms = "\"hermes-typed\", \"pi\", \"semantic-kernel\", \"hermes-static\"";
    let file = temp.path().join("model.jinja");
    fs::write(&file, TOOL_AS_USER).expect("written");
    let path = experiment(temp.path(), arms, "", "template = \"model.jinja\"");
    let out = temp.path().join("out");
    let output = run(&path, &out, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let told = report(&out);
    for row in ["| hermes-typed | user (1) |", "| pi | user (1) |", "| semantic-kernel | not sent (1) |"] {
        assert!(told.contains(row), "{row}: {told}");
    }
    assert!(told.contains("| hermes-static | nobody is asked (1) |"));
    // It decides no trial, so the run stays the same one under another template.
    fs::write(&file, PLAIN).expect("written");
    let trials = rows(&out.join("trials.csv"));
    assert_eq!(run(&path, &out, &[]).status.code(), Some(0));
    assert!(report(&out).contains("| hermes-typed | unknown template (1) |"));
    assert_eq!(rows(&out.join("trials.csv")), trials);
    // One that cannot be read is told before anything is run.
    fs::write(&file, "{% for %}").expect("written");
    let broken = laundromat().arg("plan").arg(&path).output().expect("it runs");
    assert_eq!(broken.status.code(), Some(2));
    assert!(said(&broken).contains("model.jinja") && said(&broken).contains("template"), "{}", said(&broken));
}

/// A server that renders as llama.cpp's does over `/apply-template`, for so many requests.
fn server(template: &str, requests: usize) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let source = laundromat_template::Source { template: template.to_owned(), ..Default::default() };
    let thread = std::thread::spawn(move || {
        let mut environment = minijinja::Environment::new();
        environment.add_template_owned("chat", source.template).expect("Jinja");
        (0..requests).map(|_| answer(&listener.accept().expect("a request").0, &environment)).collect()
    });
    (url, thread)
}

fn answer(mut stream: &TcpStream, environment: &minijinja::Environment<'_>) -> String {
    let (mut got, mut buffer) = (Vec::new(), [0; 65536]);
    let (head, body) = loop {
        let read = stream.read(&mut buffer).expect("bytes");
        got.extend_from_slice(&buffer[..read]);
        let Some(end) = got.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let head = String::from_utf8(got[..end].to_vec()).expect("text").to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
        if got.len() == end + 4 + length.trim().parse::<usize>().expect("a number") {
            break (head, got[end + 4..].to_vec());
        }
    };
    let body: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
    let called = body["messages"].as_array().expect("a list").iter().filter_map(|it| it["tool_calls"].as_array());
    assert!(called.flatten().all(|call| call["function"]["arguments"].is_string()), "arguments are text on the wire");
    let chat = environment.get_template("chat").expect("a template");
    let prompt = chat.render(minijinja::value::Serde(&body)).expect("rendered");
    let reply = serde_json::json!({"prompt": prompt}).to_string();
    let status = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}", reply.len());
    write!(stream, "{status}\r\nconnection: close\r\n\r\n{reply}").expect("written");
    head.lines().next().expect("a line").to_owned()
}

#[test]
fn a_server_is_asked_for_its_rendering() {
    let session = repo("sessions/fix-region-rollup-test.json").display().to_string();
    let temp = tempfile::tempdir().expect("a folder");
    let file = temp.path().join("typed.jinja");
    fs::write(&file, TOOL_AS_USER.replace("'user' if m.role == 'tool' else m.role", "m.role")).expect("written");
    let check = |more: &[&str]| {
        let mut command = laundromat();
        command.args(["template", "check", "--arm", "hermes-typed", "--session", &session]).args(more);
        command.args(["--attack", "standing-approval"]).output().expect("it runs")
    };
    let (url, asked) = server(TOOL_AS_USER, 2);
    let output = check(&["--server", &format!("{url}/v1")]);
    assert_eq!(asked.join().expect("ended"), ["post /apply-template http/1.1"; 2]);
    assert_eq!(output.status.code(), Some(100), "{}", said(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("(tool on the wire)"));

    // A file keeps the tool's turn, and what the server really does counts.
    assert_eq!(check(&["--template", file.to_str().expect("text")]).status.code(), Some(0));
    let (url, asked) = server(TOOL_AS_USER, 2);
    let both = check(&["--template", file.to_str().expect("text"), "--server", &url]);
    asked.join().expect("ended");
    assert_eq!(both.status.code(), Some(100), "{}", said(&both));
    let (url, asked) = server(PLAIN, 2);
    assert_eq!(check(&["--server", &url]).status.code(), Some(3));
    asked.join().expect("ended");

    let nobody = check(&["--server", "http://127.0.0.1:9"]);
    assert_eq!(nobody.status.code(), Some(2));
    assert!(said(&nobody).contains("no answer") && said(&nobody).contains("name its address"), "{}", said(&nobody));
    assert_eq!(check(&[]).status.code(), Some(2));
}
