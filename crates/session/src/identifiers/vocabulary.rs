//! The words by which a token is taken for a path, or is not.

/// Extensions that make a bare name a file. Others count only after a separator.
#[rustfmt::skip]
pub(super) const EXTENSIONS: &[&str] = &[
    "adoc", "avif", "bash", "bat", "bazel", "bmp", "bz2", "c", "cc", "cfg", "cjs", "clj", "cmake", "cmd", "conf",
    "cpp", "cs", "css", "csv", "cts", "cxx", "dart", "db", "diff", "dll", "dockerfile", "docx", "ejs", "erl", "ex",
    "exe", "exs", "fs", "gif", "go", "gradle", "graphql", "gz", "h", "hbs", "hcl", "hh", "hpp", "hs", "htm", "html",
    "ico", "ini", "ipynb", "jar", "java", "jpeg", "jpg", "js", "json", "json5", "jsonc", "jsonl", "jsx", "jl", "kt",
    "kts", "less", "lock", "log", "lua", "m", "md", "mdx", "mjs", "ml", "mli", "mp3", "mp4", "mts", "nix", "otf",
    "parquet", "patch", "pdf", "php", "pl", "plist", "png", "pom", "pptx", "proto", "ps1", "pxd", "py", "pyc",
    "pyi", "pyx", "r", "rb", "rkt", "rs", "rst", "sass", "scala", "scss", "sh", "so", "sol", "sql", "sqlite",
    "svelte", "svg", "swift", "tar", "tex", "tf", "tfvars", "tgz", "toml", "ts", "tsv", "tsx", "ttf", "txt", "vue",
    "wasm", "wat", "webp", "whl", "woff", "woff2", "xlsx", "xml", "xz", "yaml", "yml", "zig", "zip", "zsh", "zst",
];

/// Files known without an extension, after a separator.
#[rustfmt::skip]
pub(super) const NAMES: &[&str] = &[
    "Makefile", "Dockerfile", "Gemfile", "Rakefile", "Justfile", "justfile", "LICENSE", "README", "CHANGELOG",
    "CODEOWNERS", "Procfile", "Vagrantfile", "Jenkinsfile", "BUILD", "WORKSPACE", ".gitignore", ".gitattributes",
    ".env", ".dockerignore", ".editorconfig", ".npmrc", ".bashrc", ".zshrc", ".profile", "passwd", "hosts",
];

/// Directories that make an extensionless path of three or more segments, or an anchored one, a path.
#[rustfmt::skip]
pub(super) const DIRECTORIES: &[&str] = &[
    ".cargo", ".claude", ".git", ".github", ".vscode", "app", "apps", "assets", "bench", "benches", "bin", "build",
    "cmd", "config", "crates", "deps", "dist", "doc", "docs", "etc", "examples", "fixtures", "home", "include",
    "internal", "lib", "libs", "migrations", "mnt", "modules", "node_modules", "opt", "packages", "pkg", "private",
    "proc", "public", "root", "scripts", "spec", "src", "srv", "static", "target", "test", "tests", "third_party",
    "tmp", "tools", "Users", "usr", "var", "vendor", "workspace",
];

/// Directories whose children are paths even when there are just two segments.
#[rustfmt::skip]
pub(super) const ROOTS: &[&str] = &[
    ".cargo", ".git", ".github", "crates", "node_modules", "packages", "src",
];

/// Directories of code that is not the project's own.
#[rustfmt::skip]
pub(super) const VENDORED: &[&str] = &[
    "node_modules", "vendor", "third_party", "site-packages", ".venv",
];

/// Products and addresses that are spelled like files.
#[rustfmt::skip]
pub(super) const NOT_FILES: &[&str] = &[
    "node.js", "next.js", "vue.js", "nuxt.js", "react.js", "three.js", "d3.js", "express.js", "backbone.js",
    "ember.js", "angular.js", "chart.js", "p5.js", "alpine.js", "moment.js", "solid.js", "discord.js",
    "console.log", "math.log", "docs.rs",
];

/// Ends of host names: an address without its scheme is no file path.
pub(super) const TOP_LEVEL: &[&str] =
    &["com", "org", "net", "io", "dev", "ai", "app", "edu", "gov", "co", "example", "invalid", "test", "localhost"];
