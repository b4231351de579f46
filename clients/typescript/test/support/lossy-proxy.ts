import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Stands before a server, and loses answers: the server has done what was asked, and the client hears nothing of it. */
export class LossyProxy {
  /** How many answers were lost. */
  lost = 0;
  private readonly server = createServer((incoming, outgoing) => this.pass(incoming, outgoing));

  private constructor(
    private readonly target: URL,
    private readonly loses: (incoming: IncomingMessage) => boolean,
  ) {}

  static async start(target: string, loses: (incoming: IncomingMessage) => boolean): Promise<LossyProxy> {
    const proxy = new LossyProxy(new URL(target), loses);
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private pass(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { hostname, port } = this.target;
    const isLost = this.loses(incoming);
    const onward = request({ hostname, port, method: incoming.method, path: incoming.url, headers: incoming.headers }, (answer) => {
      if (isLost) {
        this.lost += 1;
        answer.resume().once('end', () => outgoing.destroy());
        return;
      }
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    onward.once('error', () => outgoing.destroy());
    outgoing.once('close', () => onward.destroy());
    incoming.pipe(onward);
  }
}
