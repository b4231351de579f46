// Holds the one connection to the feed that all tabs of a browser share: a browser opens no more than six to a host.
// A shared worker holds it; where there is none, one of the tabs does.
"use strict";
const holdFeed = (tell, isWanted) => {
  let source = null;
  let wait = 1;
  let lost = false;
  const open = () => {
    source = new EventSource("/v1/events");
    source.onopen = () => { wait = 1; lost = false; tell({ open: true }); };
    source.onmessage = (event) => {
      const { type, source: of } = JSON.parse(event.data);
      tell({ topic: type.replace(/^dev\.irq\./, "").replace(/\.v1$/, ""), of, id: event.lastEventId, data: event.data });
    };
    // A connection that broke is opened again by the browser, one that was refused is not.
    source.onerror = () => {
      lost = true;
      tell({ lost });
      if (source?.readyState !== EventSource.CLOSED) return;
      source = null;
      setTimeout(() => { if (source === null && isWanted()) open(); }, wait * 500);
      wait = Math.min(wait * 2, 128);
    };
  };
  return {
    begin: () => { if (source === null) open(); },
    end: () => { source?.close(); source = null; },
    isOpen: () => source?.readyState === EventSource.OPEN,
    isLost: () => lost,
  };
};

// The worker: each tab has a port.
if (typeof SharedWorkerGlobalScope !== "undefined") {
  const tabs = new Set();
  const feed = holdFeed((message) => { for (const tab of tabs) tab.postMessage(message); }, () => tabs.size > 0);
  self.onconnect = ({ ports: [tab] }) => {
    tab.onmessage = ({ data }) => {
      if (data === "leaves") {
        tabs.delete(tab);
        if (tabs.size === 0) feed.end();
        return;
      }
      tabs.add(tab);
      if (feed.isOpen()) tab.postMessage({ open: true });
      else feed.begin();
      if (feed.isLost()) tab.postMessage({ lost: true });
    };
  };
}

// A tab without one: the tab that has the lock holds the connection, and tells the others on their channel. Once it
// leaves, the next one has the lock; what happened between them is read again when its connection opens.
const feedPort = () => {
  const channel = new BroadcastChannel("irq-feed");
  const port = { name: `${Math.random()}`, onmessage: null, close: () => channel.close() };
  let leave = () => {};
  let holds = false;
  const feed = holdFeed((message) => {
    channel.postMessage(message);
    port.onmessage?.({ data: message });
  }, () => holds);
  channel.onmessage = ({ data }) => {
    if (data.comes) { if (feed.isOpen()) channel.postMessage({ open: true, to: data.comes }); }
    else if (!data.to || data.to === port.name) port.onmessage?.({ data });
  };
  port.postMessage = (word) => {
    leave();
    if (word === "leaves") return;
    const waiting = new AbortController();
    leave = () => waiting.abort();
    const held = () => new Promise((release) => {
      holds = true;
      leave = () => { holds = false; feed.end(); release(); };
      feed.begin();
    });
    channel.postMessage({ comes: port.name });
    // Whoever leaves while it waits is refused the lock, as it wishes.
    navigator.locks.request("irq-feed", { signal: waiting.signal }, held).catch(() => {});
  };
  return port;
};
