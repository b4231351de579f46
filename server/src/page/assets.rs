//! The files that the page needs. All of them are in the program.

use axum::http::header;
use axum::response::{IntoResponse, Response};

use crate::parameters::Segment;
use crate::problem::{Code, Problem};

/// How long a browser keeps a file. Files change only with the program.
const KEEP: &str = "public, max-age=3600";

struct Asset {
    name: &'static str,
    kind: &'static str,
    bytes: &'static [u8],
}

const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

static ASSETS: [Asset; 8] = [
    Asset {
        name: "page.css",
        kind: STYLE,
        bytes: include_bytes!("../../assets/page.css"),
    },
    Asset {
        name: "page.js",
        kind: SCRIPT,
        bytes: include_bytes!("../../assets/page.js"),
    },
    Asset {
        name: "feed.js",
        kind: SCRIPT,
        bytes: include_bytes!("../../assets/feed.js"),
    },
    Asset {
        name: "htmx.min.js",
        kind: SCRIPT,
        bytes: include_bytes!("../../assets/htmx.min.js"),
    },
    Asset {
        name: "htmx-sse.js",
        kind: SCRIPT,
        bytes: include_bytes!("../../assets/htmx-sse.js"),
    },
    Asset {
        name: "icon.svg",
        kind: "image/svg+xml",
        bytes: include_bytes!("../../assets/icon.svg"),
    },
    Asset {
        name: "icon-open.svg",
        kind: "image/svg+xml",
        bytes: include_bytes!("../../assets/icon-open.svg"),
    },
    Asset {
        name: "LICENSES.txt",
        kind: "text/plain; charset=utf-8",
        bytes: include_bytes!("../../assets/LICENSES.txt"),
    },
];

/// One of the files.
pub(super) async fn send(Segment(name): Segment) -> Response {
    match ASSETS.iter().find(|asset| asset.name == name) {
        Some(asset) => {
            let headers = [
                (header::CONTENT_TYPE, asset.kind),
                (header::CACHE_CONTROL, KEEP),
            ];
            (headers, asset.bytes).into_response()
        }
        None => Problem::new(Code::NotFound, "there is no such file", "go to `/`").into_response(),
    }
}
