//! The paths under which a path leads to what it names.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use cap_std::fs::Dir;

/// The most links that are followed; the system follows no more either.
const MOST_LINKS: usize = 40;

/// The path as it is written, and as each link on its way makes it, the last one without links. All are relative to the
/// root. What leads out of the root is not followed: file tools do not open it.
pub(super) fn names(folder: &Dir, root: &Path, path: &Path) -> Vec<PathBuf> {
    let mut names = vec![lexical(path)];
    let mut at = PathBuf::new();
    let mut rest = parts(path);
    let mut links = 0;
    while let Some(part) = rest.pop_front() {
        if part == ".." {
            if !at.pop() {
                return names;
            }
            continue;
        }
        at.push(&part);
        let Ok(target) = folder.read_link_contents(&at) else {
            continue;
        };
        links += 1;
        if links > MOST_LINKS {
            return names;
        }
        at.pop();
        let target = match target.strip_prefix(root) {
            Ok(below) => {
                at.clear();
                below.to_owned()
            }
            Err(_elsewhere) if target.is_absolute() => return names,
            Err(_elsewhere) => target,
        };
        for part in parts(&target).into_iter().rev() {
            rest.push_front(part);
        }
        let name: PathBuf = at
            .iter()
            .chain(rest.iter().map(OsString::as_os_str))
            .collect();
        names.push(lexical(&name));
    }
    names.push(at);
    names
}

fn parts(path: &Path) -> VecDeque<OsString> {
    let normal = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    });
    normal.collect()
}

/// Without `.` and `..`, as if there were no links.
fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in parts(path) {
        if part == ".." {
            plain.pop();
        } else {
            plain.push(part);
        }
    }
    plain
}
