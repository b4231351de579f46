import type { ChildProcessWithoutNullStreams as Child } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { RouterError } from './errors.js';
import { Operator } from './people/operator.js';
import { Backoff } from './wire/backoff.js';
import type { Settings, Token } from './wire/settings.js';
import { sleep } from './wire/sleep.js';

/** What `Router.local` starts. */
export interface LocalOptions {
  /** The program `irq`: that of IRQ_BINARY, or the one on PATH, where it is absent. */
  readonly binary?: string;
  /** The file that keeps everything: that of `irq` where it is absent. */
  readonly store?: string;
}

/**
 * The server must end with this process, however that ends: by SIGKILL, too, which no handler sees. So a shell starts it and reads a pipe
 * from this process. The kernel closes the pipe when this process ends, and the shell ends the server.
 */
const GUARD = `"$@" </dev/null &
server=$!
exec 1>&- 2>&-
read -r _
kill -TERM $server 2>/dev/null
wait $server`;

const TOKEN_LIFETIME_S = 86_400;
const ENDS_WITHIN_MS = 10_000;

/** `irq serve` on a free port of this machine. It ends with this process, and is started again at the same address if it dies. */
export class LocalServer {
  /** Where it listens. */
  address = '';
  /** Lets one person in to the page, once. */
  link = '';
  private guard: Child | undefined;
  private ended: Promise<string> = Promise.resolve('');
  private isClosing = false;

  private constructor(private readonly options: LocalOptions) {}

  static async start(options: LocalOptions): Promise<LocalServer> {
    // A browser has no process.
    if (globalThis.process?.getBuiltinModule === undefined) throw failed('only Node 20.16 or newer can start a server', '');
    const server = new LocalServer(options);
    await server.begin('127.0.0.1:0');
    void server.supervise();
    return server;
  }

  /** Tokens of a worker of a workflow. */
  workerToken(workflow: string): Token {
    return this.token('--name', `worker ${workflow}`, '--role', 'worker', '--workflow', workflow);
  }

  /** A person of this machine. */
  operator(name = 'operator', role: 'viewer' | 'reviewer' | 'supervisor' = 'supervisor', settings: Settings = {}): Operator {
    return new Operator({ ...settings, server: this.address, token: this.token('--name', name, '--role', role) });
  }

  /** Ends it, and waits until it has ended. */
  async close(): Promise<void> {
    this.isClosing = true;
    this.guard?.stdin.end();
    // The guard leads a group of its own, so this reaches the server, too.
    const hurry = setTimeout(() => this.guard?.pid && process.kill(-this.guard.pid, 'SIGKILL'), ENDS_WITHIN_MS);
    await this.ended;
    clearTimeout(hurry);
  }

  /** A token that holds for half of its life at least. Only its digest outlives this process. */
  private token(...whose: string[]): Token {
    let known: Promise<string>;
    let until = 0;
    return () => {
      if (performance.now() < until) return known;
      until = performance.now() + TOKEN_LIFETIME_S * 500;
      known = this.created(whose);
      known.catch(() => (until = 0));
      return known;
    };
  }

  private async created(whose: readonly string[]): Promise<string> {
    const child = this.spawn(this.irq('token', 'create', ...whose, '--lifetime', `${TOKEN_LIFETIME_S}s`, '--json'));
    const [told, errors] = [said(child.stdout), said(child.stderr)];
    await over(child);
    try {
      return (JSON.parse(told()) as { secret: string }).secret;
    } catch {
      throw failed('`irq token create` failed', errors());
    }
  }

  private async begin(listen: string): Promise<void> {
    const serve = this.irq('serve', '--listen', listen, '--drain-timeout', '2s');
    // Ctrl+C on the terminal is for this process, which ends the server when it is done with it.
    const guard = this.spawn(['/bin/sh', '-c', GUARD, 'sh', ...serve], { detached: true });
    for (const it of [guard, ...(guard.stdio as unknown as Socket[])]) it?.unref();
    this.guard = guard;
    const [told, errors] = [said(guard.stdout), said(guard.stderr)];
    this.ended = over(guard).then(errors);
    // Only the server has the other end of its output, so it has ended, and its guard has nothing left to do.
    guard.stdout.on('end', () => guard.stdin.end());
    const link = new Promise<string>((resolve) => guard.stdout.on('data', () => told().includes('\n') && resolve(told().trim())));
    // Its pipes keep no program alive, so something else has to until it says where it listens.
    const waiting = setInterval(() => undefined, 1_000);
    const first = await Promise.race([link, this.ended.then(() => undefined)]).finally(() => clearInterval(waiting));
    if (first === undefined) throw failed('`irq serve` did not start', errors());
    this.link = first;
    this.address = new URL(first).origin;
  }

  /** Starts the server again where it dies. Workers only see a request that takes longer. */
  private async supervise(): Promise<void> {
    const backoff = new Backoff();
    for (;;) {
      await this.ended;
      if (this.isClosing) return;
      await this.begin(new URL(this.address).host).catch(() => undefined);
      await sleep(backoff.next());
    }
  }

  /** A command of `irq`, on this store. */
  private irq(...command: string[]): string[] {
    const { binary = process.env['IRQ_BINARY'] ?? 'irq', store } = this.options;
    return [binary, ...command, ...(store === undefined ? [] : ['--store', store])];
  }

  private spawn([program = '', ...args]: readonly string[], options: object = {}): Child {
    // Nothing that would send `irq` to another server.
    const { IRQ_SERVER: _server, IRQ_TOKEN: _token, IRQ_TOKEN_FILE: _file, ...env } = process.env;
    return process.getBuiltinModule('node:child_process').spawn(program, args, { ...options, env, stdio: 'pipe' });
  }
}

/** What a pipe has said so far. */
function said(pipe: Readable): () => string {
  let text = '';
  pipe.setEncoding('utf8').on('data', (part: string) => (text = (text + part).slice(-8_000)));
  return () => text;
}

function over(child: Child): Promise<void> {
  return new Promise((resolve) => {
    child.once('close', () => resolve());
    child.once('error', () => resolve());
  });
}

function failed(what: string, said: string): RouterError {
  const detail = said.trim() === '' ? what : `${what}: ${said.trim()}`;
  return new RouterError({ code: 'server-failed', detail, hint: 'put `irq` on PATH or name it by IRQ_BINARY; `irq doctor` says what is wrong' });
}
