//! Secrets and personal details by grammar, each in surroundings in which sessions have them.

use crate::Sample;
use crate::random::{DIGITS, LOWER, Random, UPPER};

/// One of each grammar.
pub(crate) fn all(random: &mut Random) -> Vec<Sample> {
    let mut samples: Vec<Sample> =
        vendor(random).into_iter().map(|(grammar, value)| bare(random, grammar, &value)).collect();
    samples.extend(named(random));
    samples.extend(personal(random));
    samples
}

/// Keys with a shape of their own.
fn vendor(r: &mut Random) -> Vec<(&'static str, String)> {
    let upper_digits = format!("{UPPER}{DIGITS}");
    vec![
        ("aws", format!("{}{}", r.pick(&["AKIA", "ASIA"]), r.of(&format!("{UPPER}234567"), 16))),
        ("github", format!("{}{}", r.pick(&["ghp_", "gho_", "ghu_", "ghs_", "ghr_"]), r.alnum(36))),
        ("github-fine", format!("github_pat_{}_{}", r.alnum(22), r.alnum(59))),
        ("gitlab", format!("{}{}", r.pick(&["glpat-", "gldt-", "glrt-", "glptt-"]), r.base64url(20))),
        ("anthropic", format!("sk-ant-{}-{}AA", r.pick(&["api03", "admin01", "oat01"]), r.base64url(93))),
        (
            "openai",
            format!("sk-{}-{}T3BlbkFJ{}", r.pick(&["proj", "svcacct", "admin"]), r.base64url(74), r.base64url(74)),
        ),
        ("openai-old", format!("sk-{}T3BlbkFJ{}", r.alnum(20), r.alnum(20))),
        ("openrouter", format!("sk-or-v1-{}", r.hex(64))),
        ("deepseek", format!("sk-{}", r.hex(32))),
        ("huggingface", format!("hf_{}", r.alnum(34))),
        ("groq", format!("gsk_{}", r.alnum(52))),
        ("xai", format!("xai-{}", r.alnum(80))),
        ("replicate", format!("r8_{}", r.alnum(37))),
        ("perplexity", format!("pplx-{}", r.alnum(48))),
        ("langsmith", format!("lsv2_pt_{}_{}", r.hex(32), r.hex(10))),
        ("google", format!("AIza{}", r.base64url(35))),
        ("google-oauth", format!("GOCSPX-{}", r.base64url(28))),
        ("azure-ad", format!("{}8Q~{}", r.alnum(3), r.alnum(34))),
        ("azure-storage", format!("AccountKey={}==", r.base64(86))),
        ("digitalocean", format!("dop_v1_{}", r.hex(64))),
        ("vault", format!("hvs.{}", r.base64url(95))),
        ("terraform", format!("{}.atlasv1.{}", r.alnum(14), r.alnum(67))),
        ("databricks", format!("dapi{}", r.hex(32))),
        ("supabase", format!("sbp_{}", r.hex(40))),
        ("npm", format!("npm_{}", r.alnum(36))),
        ("pypi", format!("pypi-AgEIcHlwaS5vcmc{}", r.base64url(150))),
        ("rubygems", format!("rubygems_{}", r.hex(48))),
        ("crates", format!("cio{}", r.alnum(32))),
        ("docker", format!("dckr_pat_{}", r.base64url(27))),
        ("stripe", format!("{}{}", r.pick(&["sk_live_", "rk_live_", "sk_test_"]), r.alnum(24))),
        ("stripe-webhook", format!("whsec_{}", r.alnum(32))),
        ("shopify", format!("shpat_{}", r.hex(32))),
        ("square", format!("sq0atp-{}", r.base64url(22))),
        ("slack", format!("xoxb-{}-{}-{}", r.digits(12), r.digits(13), r.alnum(24))),
        ("slack-app", format!("xapp-1-{}-{}-{}", r.of(&upper_digits, 11), r.digits(13), r.hex(64))),
        (
            "slack-hook",
            format!(
                "https://hooks.slack.com/services/T{}/B{}/{}",
                r.of(&upper_digits, 8),
                r.of(&upper_digits, 10),
                r.alnum(24)
            ),
        ),
        ("discord-hook", format!("https://discord.com/api/webhooks/{}/{}", r.digits(18), r.base64url(68))),
        ("telegram", format!("{}:AA{}", r.digits(10), r.base64url(33))),
        ("sendgrid", format!("SG.{}.{}", r.base64url(22), r.base64url(43))),
        ("mailgun", format!("key-{}", r.hex(32))),
        ("mailchimp", format!("{}-us{}", r.hex(32), r.digits(1))),
        ("brevo", format!("xkeysib-{}-{}", r.hex(64), r.alnum(16))),
        ("twilio", format!("SK{}", r.hex(32))),
        ("linear", format!("lin_api_{}", r.alnum(40))),
        ("notion", format!("ntn_{}{}", r.digits(11), r.alnum(35))),
        ("figma", format!("figd_{}", r.base64url(40))),
        ("postman", format!("PMAK-{}-{}", r.hex(24), r.hex(34))),
        ("grafana", format!("glsa_{}_{}", r.alnum(32), r.hex(8))),
        ("new-relic", format!("NRAK-{}", r.of(&upper_digits, 27))),
        ("sentry", format!("sntryu_{}", r.hex(64))),
        ("circleci", format!("CCIPAT_{}_{}", r.alnum(22), r.hex(40))),
        ("airtable", format!("pat{}.{}", r.alnum(14), r.hex(64))),
        ("dynatrace", format!("dt0c01.{}.{}", r.of(&upper_digits, 24), r.of(&upper_digits, 64))),
        ("age", format!("AGE-SECRET-KEY-1{}", r.of("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58))),
        ("hubspot", format!("pat-na1-{}", r.uuid())),
        ("mapbox", format!("sk.eyJ1Ijoi{}.{}", r.alnum(70), r.base64url(22))),
        ("maxmind", format!("{}_{}_mmk", r.alnum(6), r.alnum(29))),
        ("jwt", format!("eyJhbGciOiJIUzI1NiJ9.eyJ{}.{}", r.base64url(60), r.base64url(43))),
        ("private-key", pem(r, "RSA ")),
        ("private-key-openssh", pem(r, "OPENSSH ")),
        ("private-key-escaped", pem(r, "EC ").replace('\n', "\\n")),
    ]
}

fn pem(r: &mut Random, kind: &str) -> String {
    let lines: Vec<String> = (0..12).map(|_| r.base64(64)).collect();
    format!(
        "-----BEGIN {kind}PRIVATE KEY-----\n{}\n{}==\n-----END {kind}PRIVATE KEY-----",
        lines.join("\n"),
        r.base64(30)
    )
}

/// A secret that needs nothing around it.
fn bare(r: &mut Random, grammar: &'static str, value: &str) -> Sample {
    let text = match r.below(9) {
        0 => value.to_owned(),
        1 => format!("export KEY={value}\necho done"),
        2 => format!("{{\"value\": {}, \"ok\": true}}", serde_json::to_string(value).expect("JSON")),
        3 => format!("I set it to `{value}`, please check."),
        4 => format!("curl -H 'X-Auth: {value}' https://api.example.com/v1"),
        5 => format!("line one\\n{value}\\nline three"),
        6 => format!("- key: {value}\n- other: 5"),
        7 => format!("{{\"cmd\":\"run --with \\\"{}\\\"\"}}", value.replace('\n', "\\n").replace("\\\\n", "\\n")),
        _ => format!("https://api.example.com/v1?k={value}&page=2"),
    };
    Sample { grammar, text, value: core(value) }
}

/// What must not stay: the part that no one can guess.
fn core(value: &str) -> String {
    let longest = value.split(['\n', '\\', '.', '/', '=']).max_by_key(|piece| piece.len()).unwrap_or(value);
    longest.to_owned()
}

/// Secrets of any shape behind a name.
fn named(r: &mut Random) -> Vec<Sample> {
    let keys = [
        ("aws-secret", r.base64(40)),
        ("hex-key", r.hex(32)),
        ("hex-key-40", r.hex(40)),
        ("hex-key-64", r.hex(64)),
        ("random-key", r.alnum(32)),
        ("url-safe-key", r.base64url(43)),
        ("uuid-key", r.uuid()),
    ];
    let mut samples = Vec::new();
    for (grammar, value) in keys {
        let text = match r.below(8) {
            0 => format!("AWS_SECRET_ACCESS_KEY={value}"),
            1 => format!("{{\"api_key\": \"{value}\"}}"),
            2 => format!("client_secret: '{value}'"),
            3 => format!("const accessToken = \"{value}\";"),
            4 => format!("curl -H \"Authorization: Bearer {value}\" https://api.example.com"),
            5 => format!("--api-token {value} --verbose"),
            6 => format!("{{\"headers\":{{\"X-Api-Key\":\"{value}\"}}}}"),
            _ => format!("HEROKU_API_KEY={value}\nPORT=8080"),
        };
        samples.push(Sample { grammar, text, value });
    }
    let session_token = r.base64(900);
    samples.push(Sample {
        grammar: "session-token",
        text: format!("aws_session_token={session_token}\nregion=x"),
        value: session_token[session_token.len() - 40..].to_owned(),
    });
    let login = r.alnum(14);
    samples.push(Sample {
        grammar: "netrc",
        text: format!("machine git.example.com\n  login ci\n  password {login}\n"),
        value: login,
    });
    let password = format!("{}{}{}", r.of(LOWER, 5), r.of("!#$%*?", 1), r.alnum(6) + "7");
    let plain = format!("{}{}", r.alnum(11), r.digits(1));
    let user = r.name();
    samples.push(Sample { grammar: "password", text: format!("DB_PASSWORD=\"{password}\""), value: password });
    samples.push(Sample {
        grammar: "password-yaml",
        text: format!("user: {user}\npassword: {plain}\n"),
        value: plain.clone(),
    });
    samples.push(Sample {
        grammar: "url-password",
        text: format!(
            "{}://{user}:{plain}@db1.example.com:5432/app",
            r.pick(&["postgres", "mongodb+srv", "https", "redis", "amqp"])
        ),
        value: plain,
    });
    let basic = encoded(&format!("{user}:{}", r.alnum(12)));
    samples.push(Sample { grammar: "basic", text: format!("Authorization: Basic {basic}"), value: basic });
    samples
}

/// Base64.
fn encoded(text: &str) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let bits = chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            match place <= chunk.len() {
                true => out.push(char::from(ALPHABET[(bits >> (18 - 6 * place) & 63) as usize])),
                false => out.push('='),
            }
        }
    }
    out
}

/// What tells who or where someone is.
fn personal(r: &mut Random) -> Vec<Sample> {
    let (name, other) = (r.name(), r.name());
    let company = format!("{}{}", r.name(), r.pick(&["labs", "works", "soft", "bank"]));
    let email = match r.below(4) {
        0 => format!("{name}.{other}@{company}.com"),
        1 => format!("{name}{}@gmail.com", r.digits(2)),
        2 => format!("{name}+work@mail.{company}.co.uk"),
        _ => format!("{name}_{other}@{company}.io"),
    };
    let around = match r.below(4) {
        0 => format!("Author: {name} <{email}>"),
        1 => format!("{{\"to\":\"{email}\"}}"),
        2 => format!("write to {email}."),
        _ => format!("a\\n{email}\\nb"),
    };
    let phone = match r.below(5) {
        0 => {
            format!("+1 {}{} {}{}-{}", r.of("23456789", 1), r.digits(2), r.of("23456789", 1), r.digits(2), r.digits(4))
        }
        1 => format!("({}{}) {}{}-{}", r.of("23456789", 1), r.digits(2), r.of("23456789", 1), r.digits(2), r.digits(4)),
        2 => format!("{}{}-{}{}-{}", r.of("23456789", 1), r.digits(2), r.of("23456789", 1), r.digits(2), r.digits(4)),
        3 => format!("+49 {} {}", r.of("123456789", 3), r.digits(8)),
        _ => format!("+44{}", r.of("123456789", 10)),
    };
    let called = match r.below(3) {
        0 => format!("call me at {phone}, thanks"),
        1 => format!("{{\"phone\":\"{phone}\"}}"),
        _ => format!("Tel: {phone}\n"),
    };
    let user = format!("{name}{}", r.pick(&["", "_k", ".m", "23"]));
    let path = match r.below(6) {
        0 => format!("/home/{user}/src/app.rs:12"),
        1 => format!("cd /Users/{user}/workspace && ls"),
        2 => format!("C:\\Users\\{user}\\Documents\\a.txt"),
        3 => format!("{{\"path\":\"C:\\\\Users\\\\{user}\\\\a.txt\"}}"),
        4 => format!("file:///Users/{user}/x"),
        _ => format!("/mnt/c/Users/{user}/x"),
    };
    let host = match r.below(5) {
        0 => format!("{}{}.corp.{company}.internal", r.pick(&["db", "web", "build"]), r.digits(2)),
        1 => format!("jenkins.{company}.lan"),
        2 => format!("{name}-macbook.local"),
        3 => format!("git.{company}.corp"),
        _ => format!("vault.{company}.intranet"),
    };
    let connected = match r.below(3) {
        0 => format!("ssh root@{host}"),
        1 => format!("https://{host}:8443/x"),
        _ => format!("Could not resolve host: {host}"),
    };
    vec![
        Sample { grammar: "email", text: around, value: email },
        Sample { grammar: "phone", text: called, value: phone },
        Sample { grammar: "home", text: path, value: user },
        Sample { grammar: "host", text: connected, value: host },
    ]
}
