import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SseParser } from '../../src/wire/sse.js';

const STREAM = ': alive\r\nretry: 2000\n\nid: 1\ndata: {"é":1}\n\ndata:two\rdata: lines\r\n\r\nid: 3\n\nevent: named\ndata\n\n';
const EVENTS = [
  { id: '1', data: '{"é":1}' },
  { id: '1', data: 'two\nlines' },
  { id: '3', data: '' },
];

test('events are read whole wherever the stream is cut', () => {
  const bytes = new TextEncoder().encode(STREAM);
  for (let size = 1; size <= bytes.length; size++) {
    const parser = new SseParser();
    const found = [];
    for (let start = 0; start < bytes.length; start += size) found.push(...parser.push(bytes.subarray(start, start + size)));
    assert.deepEqual(found, EVENTS, `parts of ${size} bytes`);
  }
});

test('an event that is not complete is not told', () => {
  const parser = new SseParser();
  assert.deepEqual(parser.push(new TextEncoder().encode('id: 7\ndata: half\n')), []);
});
