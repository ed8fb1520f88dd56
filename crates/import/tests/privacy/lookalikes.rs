//! What looks like a secret or a personal detail, and is none.

use crate::Sample;
use crate::random::Random;

/// One of each grammar.
pub(crate) fn all(r: &mut Random) -> Vec<Sample> {
    texts(r).into_iter().map(|(grammar, text)| Sample { grammar, value: text.clone(), text }).collect()
}

fn texts(r: &mut Random) -> Vec<(&'static str, String)> {
    let word = r.name();
    vec![
        ("git-sha", format!("commit {}\nAuthor: nobody", r.hex(40))),
        ("git-short", format!("{} fix the build", r.hex(7))),
        ("git-range", format!("   {}..{}  main -> main", r.hex(7), r.hex(7))),
        ("index-line", format!("index {}..{} 100644", r.hex(10), r.hex(10))),
        ("uuid", format!("{{\"request_id\":\"{}\"}}", r.uuid())),
        ("uuid-bare", r.uuid()),
        ("sha256", format!("sha256:{}", r.hex(64))),
        ("sha256sum", format!("{}  file.tar.gz", r.hex(64))),
        ("md5", format!("ETag: \"{}\"", r.hex(32))),
        ("integrity", format!("\"integrity\": \"sha512-{}==\"", r.base64(86))),
        ("cargo-lock", format!("checksum = \"{}\"", r.hex(64))),
        ("go-sum", format!("github.com/x/y v1.2.3 h1:{}=", r.base64(43))),
        ("image", format!("data:image/png;base64,{}", r.base64(400))),
        ("base64-text", r.base64(76)),
        ("version", format!("{}.{}.{}-beta.{}", r.digits(1), r.digits(2), r.digits(1), r.digits(1))),
        ("npm-version", format!("npm install @types/{word}@{}.{}.{}", r.digits(2), r.digits(1), r.digits(1))),
        ("package-at", format!("{word}@{}.{}.{}", r.digits(1), r.digits(2), r.digits(1))),
        ("image-at", format!("icons/{word}@2x.png")),
        ("example-mail", format!("{word}@example.{}", r.pick(&["com", "org", "net"]))),
        ("git-remote", format!("git@github.com:{word}/app.git")),
        ("noreply", "noreply@github.com".to_owned()),
        ("decorator", format!("@app.route('/{word}')\n@pytest.fixture\n")),
        ("port", format!("http://localhost:{}/health", r.digits(4))),
        ("address-port", format!("listening on 127.0.0.1:{}", r.digits(4))),
        ("ipv4", format!("10.{}.{}.{}", r.digits(1), r.digits(2), r.digits(2))),
        ("order", format!("Order #{}-{} shipped", r.digits(3), r.digits(7))),
        ("amazon-order", format!("order {}-{}-{}", r.digits(3), r.digits(7), r.digits(7))),
        ("isbn", format!("ISBN 978-{}-{}-{}-{}", r.digits(1), r.digits(2), r.digits(6), r.digits(1))),
        ("timestamp", format!("17{}", r.digits(8))),
        ("timestamp-ms", format!("\"ts\": 17{}", r.digits(11))),
        ("iso-time", format!("2026-0{}-1{}T10:{}:00.{}Z", 1 + r.below(9), r.below(10), 10 + r.below(50), r.digits(3))),
        ("time-zone", format!("2026-01-1{} 10:00:00 +0{}00", r.below(10), r.below(10))),
        ("hunk", format!("@@ -{},{} +{},{} @@ fn x()", r.digits(3), r.digits(1), r.digits(3), r.digits(2))),
        ("diff-number", format!("+{}\n-{}\n", r.digits(10), r.digits(10))),
        ("sum", format!("{}+{}={}", r.digits(4), r.digits(4), r.digits(5))),
        ("lines", format!("  {} {} {}\n", r.digits(4), r.digits(5), r.digits(6))),
        ("float", format!("0.{}", r.digits(12))),
        ("coordinates", format!("48.{}, 11.{}", r.digits(5), r.digits(5))),
        ("hex-dump", format!("0000{}  {} {} {} {}", r.digits(4), r.hex(4), r.hex(4), r.hex(4), r.hex(4))),
        ("pointer", format!("0x{}", r.hex(12))),
        ("mac", format!("{}:{}:{}:{}:{}:{}", r.hex(2), r.hex(2), r.hex(2), r.hex(2), r.hex(2), r.hex(2))),
        ("model", format!("model: claude-3-5-sonnet-2024{}", r.digits(4))),
        ("call-id", format!("toolu_01{}", r.alnum(22))),
        ("call-id-openai", format!("call_{}", r.alnum(24))),
        ("message-id", format!("msg_01{}", r.alnum(22))),
        ("completion-id", format!("chatcmpl-{}", r.alnum(29))),
        ("tokens", format!("\"max_tokens\": {}, \"input_tokens\": {}", r.digits(5), r.digits(6))),
        ("token-code", format!("token = await get_token(\"{word}\")")),
        ("env-read", "api_key = os.environ[\"OPENAI_API_KEY\"]".to_owned()),
        ("env-read-js", "const apiKey = process.env.OPENAI_API_KEY2;".to_owned()),
        (
            "placeholder",
            r.pick(&[
                "OPENAI_API_KEY=sk-your-key-here",
                "API_KEY=<your-api-key>",
                "password: ********",
                "GITHUB_TOKEN=${GITHUB_TOKEN}",
                "token: xxxxxxxxxxxxxxxxxxxx1",
            ])
            .to_owned(),
        ),
        ("aws-example", "AKIAIOSFODNN7EXAMPLE".to_owned()),
        ("password-type", "password: string; confirmPassword?: string".to_owned()),
        ("secret-name", format!("secretName: {word}-tls-prod-v2")),
        ("secret-path", format!("/run/secrets/{word}_password")),
        ("public-key", format!("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{} build", r.base64(43))),
        ("certificate", format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----", r.base64(64))),
        ("pem-mention", "if text.contains(\"-----BEGIN PRIVATE KEY-----\") { return Err(()); }".to_owned()),
        ("stripe-id", format!("cus_{}", r.alnum(14))),
        ("stripe-public", format!("pk_test_{}", r.alnum(24))),
        ("aws-arn", format!("arn:aws:iam::{}:role/{word}", r.digits(12))),
        ("docker-id", format!("Successfully built {}", r.hex(12))),
        (
            "file-local",
            r.pick(&["settings.local.json", ".env.local", "config.local", "threading.local()", "self.local = 1"])
                .to_owned(),
        ),
        ("kube", "postgres.default.svc.cluster.local".to_owned()),
        ("docker-host", "http://host.docker.internal:11434".to_owned()),
        (
            "container-home",
            r.pick(&["/home/user/app", "/home/ubuntu/x", "/root/x", "/home/runner/work/x", "/Users/Shared/x"])
                .to_owned(),
        ),
        (
            "web-path",
            r.pick(&[
                "https://x.example.com/home/news",
                "GET /api/users/123",
                "/users/{id}/posts",
                "href=\"/home/index.html\"",
            ])
            .to_owned(),
        ),
        ("css", format!("#{} {{ color: #{}; }}", word, r.hex(6))),
        ("url-plain", format!("https://example.com/{}?page={}", r.alnum(11), r.digits(2))),
        ("youtube", format!("https://www.youtube.com/watch?v={}", r.alnum(11))),
        ("long-name", "getAccessTokenFromServerWithRetry2(request)".to_owned()),
        ("snake", format!("test_{word}_with_a_very_long_name_and_number_{}", r.digits(2))),
        (
            "booking",
            format!("reservation {} on flight HAT{}", r.of("ABCDEFGHJKLMNPQRSTUVWXYZ0123456789", 6), r.digits(3)),
        ),
        ("credit-like", format!("gift_card_{}", r.digits(7))),
        ("price", format!("${}.{}", r.digits(4), r.digits(2))),
        ("date-range", format!("2024-0{}-1{}", 1 + r.below(9), r.below(10))),
        ("react-id", format!("key={{item.id_{}}}", r.digits(3))),
        ("crontab", "0 12 * * 1-5 /usr/bin/backup".to_owned()),
        ("percent", format!("{}% of {} files", r.digits(2), r.digits(4))),
    ]
}
