// Holds the one connection to the feed that all tabs of a browser share: a browser opens no more than six to a host.
"use strict";
const tabs = new Set();
let source = null;
let wait = 1;
const tell = (message) => { for (const tab of tabs) tab.postMessage(message); };
const open = () => {
  source = new EventSource("/v1/events");
  source.onopen = () => { wait = 1; tell({ open: true }); };
  source.onmessage = (event) => {
    const { type, source: of } = JSON.parse(event.data);
    tell({ topic: type.replace(/^dev\.irq\./, "").replace(/\.v1$/, ""), of, id: event.lastEventId, data: event.data });
  };
  // A connection that broke is opened again by the browser, one that was refused is not.
  source.onerror = () => {
    if (source.readyState !== EventSource.CLOSED) return;
    source = null;
    setTimeout(() => { if (source === null && tabs.size > 0) open(); }, wait * 500);
    wait = Math.min(wait * 2, 128);
  };
};
self.onconnect = ({ ports: [tab] }) => {
  tab.onmessage = ({ data }) => {
    if (data === "leaves") {
      tabs.delete(tab);
      if (tabs.size === 0) { source?.close(); source = null; }
      return;
    }
    tabs.add(tab);
    if (source === null) open();
    else if (source.readyState === EventSource.OPEN) tab.postMessage({ open: true });
  };
};
