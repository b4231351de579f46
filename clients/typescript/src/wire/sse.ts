/** One event of a stream of server-sent events. */
export interface ServerSentEvent {
  readonly id: string | undefined;
  readonly data: string;
}

/** Reads server-sent events from the parts of a stream, wherever these are cut. */
export class SseParser {
  private readonly decoder = new TextDecoder();
  private rest = '';
  private id: string | undefined;
  private data: string[] = [];

  /** The events that this part completes. */
  push(part: Uint8Array): ServerSentEvent[] {
    const text = this.rest + this.decoder.decode(part, { stream: true });
    // A line feed may follow a carriage return in the next part.
    const end = text.endsWith('\r') ? text.length - 1 : text.length;
    const lines = text.slice(0, end).split(/\r\n|\n|\r/);
    this.rest = (lines.pop() ?? '') + text.slice(end);
    return lines.flatMap((line) => this.line(line) ?? []);
  }

  private line(line: string): ServerSentEvent | undefined {
    if (line === '') return this.dispatch();
    const [, field, value] = /^([^:]*):? ?(.*)$/su.exec(line) ?? [];
    if (field === 'data') this.data.push(value ?? '');
    if (field === 'id') this.id = value;
    return undefined;
  }

  /** An empty line ends an event; one without data is none. */
  private dispatch(): ServerSentEvent | undefined {
    const { id, data } = this;
    this.data = [];
    return data.length === 0 ? undefined : { id, data: data.join('\n') };
  }
}
