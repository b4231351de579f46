//! Events of a stream from bytes, as the standard of server-sent events has it, and what servers send in place of them.
//!
//! A line may end in LF, CR or both, and the two may come in different reads; a byte order mark may come first. A line that is
//! no field of an event is kept: it may be all that a server says of its failure.

/// What a stream consists of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Frame {
    /// An event with data.
    Event(Event),
    /// A comment, or an event without data: the connection is alive.
    Nothing,
    /// A line that belongs to no event.
    Stray(String),
}

/// An event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Event {
    /// Its name, empty where it has none.
    pub(crate) name: String,
    /// Its data: the lines of it, joined.
    pub(crate) data: String,
    /// Whether the stream ended before the event did.
    pub(crate) is_cut: bool,
}

/// Bytes that are no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoText;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The name of events that are errors, and of a line that some servers send for one.
pub(crate) const ERROR: &str = "error";

/// Reads events.
#[derive(Debug, Default)]
pub(crate) struct EventReader {
    line: Vec<u8>,
    has_lines: bool,
    after_return: bool,
    name: String,
    data: Option<String>,
}

impl EventReader {
    /// What these bytes bring to an end.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Result<Vec<Frame>, NoText> {
        let mut frames = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            if std::mem::take(&mut self.after_return) && rest.first() == Some(&b'\n') {
                rest = rest.get(1..).unwrap_or_default();
                continue;
            }
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let Some(end) = end else {
                self.line.extend_from_slice(rest);
                break;
            };
            let (line, after) = rest.split_at(end);
            self.line.extend_from_slice(line);
            self.after_return = after.first() == Some(&b'\r');
            rest = after.get(1..).unwrap_or_default();
            frames.extend(self.end_line()?);
        }
        Ok(frames)
    }

    /// What was left at the end of the stream. An event, and a character, may have been cut off.
    pub(crate) fn finish(&mut self) -> Result<Vec<Frame>, NoText> {
        let mut frames = Vec::new();
        if let Err(error) = std::str::from_utf8(&self.line)
            && error.error_len().is_none()
        {
            self.line.truncate(error.valid_up_to());
        }
        if !self.line.is_empty() {
            frames.extend(self.end_line()?);
        }
        if self.data.is_some() {
            frames.extend(self.dispatch(true));
        }
        Ok(frames)
    }

    fn end_line(&mut self) -> Result<Option<Frame>, NoText> {
        let line = std::mem::take(&mut self.line);
        let mut bytes = line.as_slice();
        if !std::mem::replace(&mut self.has_lines, true) {
            bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        }
        let line = std::str::from_utf8(bytes).map_err(|_no_text| NoText)?;
        Ok(self.take(line))
    }

    fn take(&mut self, line: &str) -> Option<Frame> {
        if line.is_empty() {
            return self.dispatch(false);
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            // A comment keeps the connection alive.
            "" => return Some(Frame::Nothing),
            "event" => value.trim().clone_into(&mut self.name),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            "id" | "retry" => {}
            ERROR => {
                return Some(Frame::Event(Event {
                    name: ERROR.to_owned(),
                    data: value.to_owned(),
                    is_cut: false,
                }));
            }
            _ => return Some(Frame::Stray(line.to_owned())),
        }
        None
    }

    fn dispatch(&mut self, is_cut: bool) -> Option<Frame> {
        let name = std::mem::take(&mut self.name);
        match self.data.take() {
            Some(data) if !data.trim().is_empty() => {
                Some(Frame::Event(Event { name, data, is_cut }))
            }
            Some(_) => Some(Frame::Nothing),
            None if name.is_empty() => None,
            None => Some(Frame::Nothing),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Event, EventReader, Frame, NoText};

    fn event(name: &str, data: &str) -> Frame {
        Frame::Event(Event {
            name: name.to_owned(),
            data: data.to_owned(),
            is_cut: false,
        })
    }

    /// Read in two pieces, cut at every place.
    fn read(bytes: &[u8]) -> Vec<Frame> {
        let at = |place: usize| {
            let mut reader = EventReader::default();
            let mut frames = reader.read(&bytes[..place]).unwrap();
            frames.extend(reader.read(&bytes[place..]).unwrap());
            frames.extend(reader.finish().unwrap());
            frames
        };
        let whole = at(0);
        for place in 1..bytes.len() {
            assert_eq!(at(place), whole, "cut at {place}");
        }
        whole
    }

    #[test]
    fn lines_end_in_every_way_and_a_mark_comes_first() {
        let expected = [event("one", "ü\nb"), Frame::Nothing, event("", "c")];
        for end in ["\n", "\r\n", "\r"] {
            for mark in ["", "\u{feff}"] {
                let text = format!("{mark}event: one\ndata: ü\ndata:b\n\n: hello\n\ndata: c\n\n");
                let bytes = text.replace('\n', end).into_bytes();
                assert_eq!(read(&bytes), expected, "{end:?} {mark:?}");
            }
        }
    }

    #[test]
    fn what_is_no_event_is_kept() {
        let text = "error: busy\n{\"error\":\n 1}\nid: 7\nevent: ping\n\ndata: {\"a\"";
        let cut = Frame::Event(Event {
            name: String::new(),
            data: "{\"a\"".to_owned(),
            is_cut: true,
        });
        let stray = |line: &str| Frame::Stray(line.to_owned());
        let expected = [
            event("error", "busy"),
            stray("{\"error\":"),
            stray(" 1}"),
            Frame::Nothing,
            cut,
        ];
        assert_eq!(read(text.as_bytes()), expected);
    }

    #[test]
    fn bytes_that_are_no_text_are_refused_and_a_character_may_be_cut_off() {
        let mut reader = EventReader::default();
        assert_eq!(reader.read(b"data: \xff\n"), Err(NoText));
        let mut reader = EventReader::default();
        assert_eq!(reader.read(b"data: x\xc3"), Ok(Vec::new()));
        assert!(matches!(&reader.finish().unwrap()[..], [Frame::Event(cut)] if cut.is_cut));
    }
}
