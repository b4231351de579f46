//! Who sits at this terminal.

use std::process::Command;

use interrupts::life::{Actor, Role};
use interrupts::{ActorName, NameError};
use rustix::process::getuid;

/// The user, by the name that the operating system knows, or by `IRQ_USER` if the environment sets it. Anyone who can
/// write the store's file can do anything with it, so a role below operator would be a pretence; users who decide over
/// the network are identified by other means.
///
/// # Errors
///
/// [`NameError`] if the user's name has control characters or is too long.
pub(crate) fn actor() -> Result<Actor, NameError> {
    let name = set_name().unwrap_or_else(system_name);
    Ok(Actor {
        name: ActorName::new(name)?,
        role: Role::Operator,
    })
}

/// The name that is set for this program alone.
pub(crate) fn set_name() -> Option<String> {
    std::env::var("IRQ_USER")
        .ok()
        .filter(|name| !name.is_empty())
}

/// The operating system's name for the user of this process. `USER` and `LOGNAME` can say anything and are not used.
fn system_name() -> String {
    let uid = getuid().as_raw();
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let listed = name_in(&users, uid).map(str::to_owned);
    // Users of a directory service are in no file.
    let named = listed.or_else(|| {
        let said = Command::new("id").arg("-un").output().ok()?;
        let name = String::from_utf8(said.stdout).ok()?.trim().to_owned();
        (said.status.success() && !name.is_empty()).then_some(name)
    });
    named.unwrap_or_else(|| format!("uid {uid}"))
}

/// The name of a user in the system's list of them (passwd(5)).
fn name_in(users: &str, uid: u32) -> Option<&str> {
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next().filter(|name| !name.is_empty())?;
        let id = fields.nth(1)?.parse::<u32>().ok()?;
        (id == uid).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::name_in;

    #[test]
    fn a_user_is_found_by_the_number_alone() {
        let users = "root:x:0:0:root:/root:/bin/sh\n# none\nada:x:1000:1000::/home/ada:/bin/sh\n";
        assert_eq!(name_in(users, 0), Some("root"));
        assert_eq!(name_in(users, 1000), Some("ada"));
        assert_eq!(name_in(users, 1), None);
    }
}
