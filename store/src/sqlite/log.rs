//! The log beside a file, before it is opened. SQLite reads it up to the first frame that does not have its checksum, as a
//! power cut leaves it in the middle of the last transaction. If whole transactions follow such a frame, nothing was cut:
//! it was damaged, and to continue would forget what was acknowledged.

use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use interrupts::store::StoreError;

use super::open::beside;

/// Within how long a frame that was begun is written.
const WRITTEN_WITHIN: Duration = Duration::from_millis(100);
const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
/// The first four bytes, but for the last bit, which says in which order checksums read numbers.
const MAGIC: u32 = 0x377f_0682;

/// Looks through the log of a file.
///
/// # Errors
///
/// [`StoreError::Corrupt`] where it is damaged, and has more after that.
pub(super) fn check(path: &Path) -> Result<(), StoreError> {
    let log = beside(path, "-wal");
    match lasting_damage(&log) {
        Ok(None) => Ok(()),
        Ok(Some(detail)) => Err(StoreError::Corrupt {
            detail: format!("the log {}: {detail}", log.display()),
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        // Opening it reports why.
        Err(_unreadable) => Ok(()),
    }
}

/// What is wrong with a log, and stays so. Another process may be in the midst of a frame when it is read: its header is
/// there before its page is.
fn lasting_damage(log: &Path) -> io::Result<Option<String>> {
    let Some(found) = damage(log)? else {
        return Ok(None);
    };
    std::thread::sleep(WRITTEN_WITHIN);
    Ok(damage(log)?.filter(|again| *again == found))
}

/// What is wrong with a log, in words.
fn damage(log: &Path) -> io::Result<Option<String>> {
    let mut file = io::BufReader::with_capacity(1 << 20, fs::File::open(log)?);
    let length = file.get_ref().metadata()?.len();
    let mut header = [0; HEADER];
    if length < HEADER as u64 || file.read_exact(&mut header).is_err() {
        return Ok(None);
    }
    let number = |at: usize| be(&header, at);
    let order = ByteOrder {
        big: number(0) == MAGIC | 1,
    };
    let page = number(8) as usize;
    let is_whole = number(0) | 1 == MAGIC | 1
        && page.is_power_of_two()
        && (512..=65_536).contains(&page)
        && order.sum((0, 0), &header[..24]) == (number(24), number(28));
    if !is_whole {
        // Without a frame nothing was lost.
        let has_frames = length >= (HEADER + FRAME_HEADER + 512) as u64;
        return Ok(has_frames.then(|| "its beginning is not what was written".to_owned()));
    }
    frames(&mut file, &header, page, order)
}

/// Goes through the frames that follow a header.
fn frames(
    file: &mut impl Read,
    header: &[u8; HEADER],
    page: usize,
    order: ByteOrder,
) -> io::Result<Option<String>> {
    let mut frame = vec![0; FRAME_HEADER + page];
    // After a damaged frame what follows may continue from what it says or from what it is.
    let mut before = vec![(be(header, 24), be(header, 28))];
    let mut broken = None;
    let mut ends = 0;
    for number in 1_u64.. {
        if file.read_exact(&mut frame).is_err() {
            return Ok(None);
        }
        // What the log had before it was begun anew has other ones, to its end.
        let is_of_this_log = frame[8..16] == header[16..24];
        let stored = (be(&frame, 16), be(&frame, 20));
        let sums: Vec<_> = before
            .iter()
            .map(|before| order.sum(order.sum(*before, &frame[..8]), &frame[FRAME_HEADER..]))
            .collect();
        let is_last_of_transaction = be(&frame, 4) > 0;
        if is_of_this_log && sums.contains(&stored) {
            before = vec![stored];
            ends += u32::from(broken.is_some() && is_last_of_transaction);
        } else {
            broken.get_or_insert((number, is_last_of_transaction));
            before = sums.into_iter().chain([stored]).collect();
        }
        // The end of the damaged transaction itself, where that is not the frame, and the end of one more.
        if let Some((first, was_last)) = broken
            && ends > u32::from(!was_last)
        {
            return Ok(Some(format!(
                "frame {first} is not what was written, and what was written after it would be lost"
            )));
        }
        if before.len() > 8 {
            // More is damaged than a few bits, or it is not of this log.
            return Ok(None);
        }
    }
    Ok(None)
}

/// A number of a header, which has the highest byte first.
fn be(bytes: &[u8], at: usize) -> u32 {
    let mut number = [0; 4];
    number.copy_from_slice(&bytes[at..at + 4]);
    u32::from_be_bytes(number)
}

/// How checksums read numbers.
#[derive(Debug, Clone, Copy)]
struct ByteOrder {
    big: bool,
}

impl ByteOrder {
    fn sum(self, (mut one, mut two): (u32, u32), bytes: &[u8]) -> (u32, u32) {
        let number = |at: &[u8]| {
            let mut number = [0; 4];
            number.copy_from_slice(at);
            if self.big {
                u32::from_be_bytes(number)
            } else {
                u32::from_le_bytes(number)
            }
        };
        for pair in bytes.chunks_exact(8) {
            one = one.wrapping_add(number(&pair[..4])).wrapping_add(two);
            two = two.wrapping_add(number(&pair[4..])).wrapping_add(one);
        }
        (one, two)
    }
}
