//! A store that something other than this program has changed: each command answers what it answered before, or says
//! that something is damaged. It never answers something else without a word.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rusqlite::Connection;
use serde_json::json;

use crate::place::Place;
use crate::program::{Ended, end, irq, lines, script};

/// What a command answered: its exit code, and what it printed.
type Answer = (Option<i32>, String);

/// A store that real runs have left: decided, rerouted, open and ended, with tools and checkpoints.
struct Original {
    _place: Place,
    bytes: Vec<u8>,
    commands: Vec<Vec<String>>,
    answers: Vec<Answer>,
}

impl Original {
    fn new() -> Self {
        let place = Place::new();
        let tools = place.folder.path().to_str().unwrap();
        place.end_of_run(&["--tools", tools]).exits_with(0);
        let asks = |kind: &str| {
            json!({"agent": kind, "turn": 1, "interrupt": {
                "type": "HUMAN_REVIEW", "reason": "which way?", "choices": [],
                "confirmationItems": [], "contextForDecision": "both lead there",
            }})
        };
        let kinds = ["DISCOVERY_ORCHESTRATOR", "PLANNING_ORCHESTRATOR"];
        let script = script(place.folder.path(), &json!(kinds.map(asks)));
        let asked = place.end_of_run(&["--script", script.to_str().unwrap()]);
        let asked = asked.exits_with(5).output;
        let id = asked.trim();
        let answer = ["--decision", "respond", "--message", "left"];
        place
            .end(&[&["review", id], &answer[..]].concat())
            .exits_with(0);
        let run = lines(&place.end(&["ps", "--json"]).output)[0]["id"].clone();
        let run = run.as_str().unwrap();
        place.end(&["resume", run, "--no-input"]).exits_with(5);
        let open = lines(&place.end(&["review", "--json"]).output)[0]["id"].clone();
        let commands = [
            &["ps", "--all", "--json"][..],
            &["history", "--json"],
            &["history", "--verify"],
            &["replay", run],
            &["review", "--json"],
            &["review", open.as_str().unwrap(), "--json"],
            &["checkpoints", run, "--json"],
            // Last: it writes.
            &["resume", run, "--no-input", "--json"],
        ];
        let commands: Vec<Vec<String>> = commands
            .into_iter()
            .map(|words| words.iter().map(ToString::to_string).collect())
            .collect();
        let bytes = std::fs::read(place.store()).unwrap();
        let mut original = Self {
            _place: place,
            bytes,
            commands,
            answers: Vec::new(),
        };
        let answers = original.asked_of(&original.bytes);
        original.answers = answers.iter().map(self::answer).collect();
        for (code, told) in &original.answers {
            assert!(matches!(code, Some(0 | 5)), "{told}");
        }
        original
    }

    /// What all commands answer about a file with these bytes.
    fn asked_of(&self, bytes: &[u8]) -> Vec<Ended> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("irq.db");
        std::fs::write(&path, bytes).unwrap();
        let ask = |words: &Vec<String>| end(irq().args(words).env("IRQ_STORE", &path));
        self.commands.iter().map(ask).collect()
    }

    /// The commands that answer something else without a word about it.
    fn silently_other(&self, bytes: &[u8]) -> (Vec<String>, bool) {
        let mut other = Vec::new();
        let ended = self.asked_of(bytes);
        let is_found = ended[2].code == Some(1);
        for ((words, known), ended) in self.commands.iter().zip(&self.answers).zip(&ended) {
            if answer(ended) != *known && !says_so(ended) {
                other.push(format!(
                    "{}: {:?} {} {}",
                    words.join(" "),
                    ended.code,
                    ended.output.chars().take(300).collect::<String>(),
                    ended.error_output,
                ));
            }
        }
        (other, is_found)
    }
}

/// What a command answered, without what differs each time: a resume tells the times and the ids of its events.
fn answer(ended: &Ended) -> Answer {
    let is_events = ended.output.contains("\"specversion\"");
    let told = if is_events {
        let types = lines(&ended.output).into_iter().map(|event| {
            let data = &event["data"];
            json!([
                event["type"],
                data["agent"],
                data["reason"],
                data["question"]
            ])
            .to_string()
        });
        types.collect::<Vec<_>>().join("\n")
    } else {
        ended.output.clone()
    };
    (ended.code, told)
}

/// Whether a command says that it did not read what was written, or reads nothing at all.
fn says_so(ended: &Ended) -> bool {
    let errors = &ended.error_output;
    let said = [
        "damaged",
        "cannot be trusted",
        "cannot open the store",
        "the store is unavailable",
    ];
    let is_marked = ended.output.contains("\"damaged\":true");
    !errors.contains("panicked") && (is_marked || said.iter().any(|word| errors.contains(word)))
}

/// How many are tried: so many bits, and a fifth as many rows.
fn tries() -> usize {
    std::env::var("DAMAGE").map_or(10, |tries| tries.parse().unwrap())
}

/// Numbers that are the same each time.
pub(crate) struct Numbers(u64);

impl Numbers {
    /// Those of the seed that a variable names.
    pub(crate) fn of_environment(variable: &str) -> Self {
        let seed = std::env::var(variable).map_or(1, |seed| seed.parse().unwrap());
        Self(seed)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut number = self.0;
        number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((number ^ (number >> 31)) % end as u64).unwrap()
    }
}

/// Tries each on both processors, and says which commands were silently wrong.
fn examine<T: Send>(
    tries: Vec<T>,
    damage: impl Fn(&T) -> (String, Vec<u8>, bool) + Sync,
    original: &Original,
) -> Vec<String> {
    let (queue, wrong) = (Mutex::new(tries), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _thread in 0..2 {
            scope.spawn(|| {
                loop {
                    let (next, left) = {
                        let mut queue = queue.lock().unwrap();
                        let Some(next) = queue.pop() else {
                            return;
                        };
                        (next, queue.len())
                    };
                    if left % 100 == 0 {
                        println!("{left} are left, {} are wrong", wrong.lock().unwrap().len());
                    }
                    let (what, bytes, must_be_found) = damage(&next);
                    let (other, is_found) = original.silently_other(&bytes);
                    let mut wrong = wrong.lock().unwrap();
                    if must_be_found && !is_found {
                        wrong.push(format!("{what}: not found by history --verify"));
                    }
                    wrong.extend(other.into_iter().map(|other| format!("{what}: {other}")));
                }
            });
        }
    });
    wrong.into_inner().unwrap()
}

#[test]
fn a_flipped_bit_changes_no_answer_without_a_word() {
    let original = Original::new();
    let mut numbers = Numbers::of_environment("DAMAGE_SEED");
    let bits: Vec<usize> = (0..tries())
        .map(|_| numbers.below(original.bytes.len() * 8))
        .collect();
    let count = bits.len();
    let flipped = |bit: &usize| {
        let mut bytes = original.bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        (format!("bit {bit}"), bytes, false)
    };
    let wrong = examine(bits, flipped, &original);
    let (times, told) = (wrong.len(), wrong.join("\n"));
    assert!(wrong.is_empty(), "{times} silent, of {count} bits:\n{told}");
}

/// What is done to rows, each to one that a number chooses: a table, and statements over the rowid `?1` of it. `$.` names
/// nothing that every row has, so the texts are changed as texts.
const EDITS: [(&str, &str); 22] = [
    (
        "interrupts",
        "UPDATE interrupts SET body = replace(body, 'which way', 'what a day') WHERE rowid = ?1",
    ),
    (
        "interrupts",
        "UPDATE interrupts SET body = json_set(body, '$.state', 'resolved'), state = 'resolved', live = 0 WHERE rowid = ?1",
    ),
    (
        "interrupts",
        "UPDATE interrupts SET live = 1 - live WHERE rowid = ?1",
    ),
    (
        "interrupts",
        "UPDATE interrupts SET deadline = 1 WHERE rowid = ?1",
    ),
    (
        "interrupts",
        "UPDATE interrupts SET body = replace(body, 'left', 'lost') WHERE decided(body) AND rowid > ?1 * 0",
    ),
    ("interrupts", "DELETE FROM interrupts WHERE rowid = ?1"),
    (
        "interrupts",
        "UPDATE interrupts SET body = (SELECT body FROM interrupts AS other WHERE other.rowid <> ?1 ORDER BY other.rowid DESC LIMIT 1), seal = NULL WHERE rowid = ?1",
    ),
    (
        "journal",
        "UPDATE journal SET body = replace(body, 'workspace', 'workplace') WHERE rowid = ?1",
    ),
    (
        "journal",
        "UPDATE journal SET body = replace(body, 'e', 'E') WHERE rowid = ?1",
    ),
    ("journal", "DELETE FROM journal WHERE rowid = ?1"),
    (
        "journal",
        "UPDATE journal SET done = 0, body = json_remove(body, '$.result') WHERE rowid = ?1",
    ),
    (
        "journal",
        "INSERT INTO journal (position, effect, run, done, body, seal) SELECT 1000000, 'x' || substr(effect, 2), run, done, body, seal FROM journal WHERE rowid = ?1",
    ),
    (
        "checkpoints",
        "UPDATE checkpoints SET content = replace(content, 'answer', 'ANSWER') WHERE rowid = ?1",
    ),
    (
        "checkpoints",
        "UPDATE checkpoints SET digest = '00' || substr(digest, 3) WHERE rowid = ?1",
    ),
    (
        "checkpoints",
        "UPDATE checkpoints SET journal = journal + 1 WHERE rowid = ?1",
    ),
    ("checkpoints", "DELETE FROM checkpoints WHERE rowid = ?1"),
    (
        "runs",
        "UPDATE runs SET state = 'cancelled', body = json_set(body, '$.state', 'cancelled') WHERE rowid = ?1",
    ),
    (
        "runs",
        "UPDATE runs SET body = replace(body, 'bakery', 'brewery') WHERE rowid = ?1",
    ),
    ("runs", "DELETE FROM runs WHERE rowid = ?1"),
    (
        "nodes",
        "UPDATE nodes SET body = json_set(body, '$.activity', 'failed') WHERE rowid = ?1",
    ),
    (
        "audit",
        "UPDATE audit SET entry = replace(entry, 'tester', 'nobody') || ' ' WHERE rowid = ?1",
    ),
    ("outbox", "DELETE FROM outbox WHERE rowid = ?1"),
];

/// The file with one row edited, and whether anything is different.
fn edited(original: &Original, (table, statement): (&str, &str), choice: usize) -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("edited.db");
    std::fs::write(&path, &original.bytes).unwrap();
    let statement = statement.replace("decided(body)", "body LIKE '%\"decision\"%'");
    let changed = edit(&path, table, &statement, choice);
    changed.then(|| std::fs::read(&path).unwrap())
}

fn edit(path: &Path, table: &str, statement: &str, choice: usize) -> bool {
    let connection = Connection::open(path).unwrap();
    let number = |sql: &str| -> i64 { connection.query_row(sql, (), |row| row.get(0)).unwrap() };
    let rows = number(&format!("SELECT COUNT(*) FROM {table}"));
    let place = i64::try_from(choice).unwrap() % rows;
    let rowid = number(&format!(
        "SELECT rowid FROM {table} ORDER BY rowid LIMIT 1 OFFSET {place}"
    ));
    let all = || -> String {
        let sql = format!("SELECT * FROM {table} ORDER BY rowid");
        let mut found = connection.prepare(&sql).unwrap();
        let columns = found.column_count();
        let mut rows = found.query(()).unwrap();
        let mut text = String::new();
        while let Some(row) = rows.next().unwrap() {
            for column in 0..columns {
                text += &format!("{:?}|", row.get_ref(column).unwrap());
            }
        }
        text
    };
    let before = all();
    // They are for processes of older versions.
    let triggers = "SELECT group_concat('DROP TRIGGER ' || name, ';') FROM sqlite_schema WHERE type = 'trigger'";
    let drop: Option<String> = connection
        .query_row(triggers, (), |row| row.get(0))
        .unwrap();
    connection.execute_batch(&drop.unwrap_or_default()).unwrap();
    connection.execute(statement, (rowid,)).unwrap();
    before != all()
}

#[test]
fn an_edited_row_changes_no_answer_without_a_word_and_is_found() {
    let original = Original::new();
    let mut numbers = Numbers::of_environment("DAMAGE_SEED");
    let wanted = tries() / 5 + EDITS.len();
    let mut edits = Vec::new();
    let mut kind = 0;
    while edits.len() < wanted {
        let edit = EDITS[kind % EDITS.len()];
        kind += 1;
        if let Some(bytes) = edited(&original, edit, numbers.below(1_000)) {
            edits.push((edit.1, bytes));
        }
    }
    let count = edits.len();
    let damage = |(what, bytes): &(&str, Vec<u8>)| ((*what).to_owned(), bytes.clone(), true);
    let wrong = examine(edits, damage, &original);
    let (times, told) = (wrong.len(), wrong.join("\n"));
    assert!(
        wrong.is_empty(),
        "{times} silent, of {count} edits:\n{told}"
    );
}
