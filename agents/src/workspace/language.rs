//! A file's language, by the end of its name.

const LANGUAGES: &[(&[&str], &str)] = &[
    (&["rs"], "Rust"),
    (&["md", "markdown"], "Markdown"),
    (&["toml"], "TOML"),
    (&["json", "jsonc"], "JSON"),
    (&["yml", "yaml"], "YAML"),
    (&["py"], "Python"),
    (&["js", "mjs", "cjs", "jsx"], "JavaScript"),
    (&["ts", "tsx"], "TypeScript"),
    (&["go"], "Go"),
    (&["java"], "Java"),
    (&["kt", "kts"], "Kotlin"),
    (&["c", "h"], "C"),
    (&["cc", "cpp", "cxx", "hpp", "hh"], "C++"),
    (&["cs"], "C#"),
    (&["rb"], "Ruby"),
    (&["php"], "PHP"),
    (&["swift"], "Swift"),
    (&["scala"], "Scala"),
    (&["sh", "bash", "zsh", "fish"], "shell"),
    (&["sql"], "SQL"),
    (&["html", "htm"], "HTML"),
    (&["css", "scss", "less"], "CSS"),
    (&["xml", "svg"], "XML"),
    (&["proto"], "Protocol Buffers"),
    (&["tf"], "Terraform"),
    (&["txt", "rst", "adoc", "org"], "text"),
];

/// A file's language; `text` if its name does not say.
pub(super) fn language(path: &str) -> &'static str {
    let name = path.rsplit_once('/').map_or(path, |(_folder, name)| name);
    match name {
        "Makefile" | "makefile" | "GNUmakefile" => return "make",
        "Dockerfile" | "Containerfile" => return "container file",
        _ => {}
    }
    let ending = name
        .rsplit_once('.')
        .map(|(_stem, ending)| ending.to_ascii_lowercase())
        .unwrap_or_default();
    LANGUAGES
        .iter()
        .find(|(endings, _)| endings.contains(&ending.as_str()))
        .map_or("text", |(_, language)| language)
}
