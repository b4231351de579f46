import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

export const BINARY = resolve(process.env['IRQ_BINARY'] ?? '../../target/debug/irq');

const PATIENCE_MS = 30_000;

/** How a client reaches the server. */
interface Access {
  readonly server: string;
  readonly token: string;
  readonly patienceMs: number;
}

/**
 * A real `irq serve` with a store of its own, which can be killed and started again at the same address. It knows no client, so each
 * package tests it with its own.
 */
export class IrqProcess {
  private child: ChildProcess | undefined;
  private address = 'http://127.0.0.1:0';
  private readonly store: string;

  constructor(private readonly home: string) {
    this.store = storeFor(home);
  }

  static async start<S extends IrqProcess>(this: new (home: string) => S): Promise<S> {
    if (!existsSync(BINARY)) throw new Error(`there is no ${BINARY}: build it with \`cargo build -p interrupt-router\`, or set IRQ_BINARY`);
    const server = new this(await mkdtemp(join(tmpdir(), 'irq-typescript-')));
    await server.begin();
    return server;
  }

  get url(): string {
    return this.address;
  }

  /** Begins to serve, and returns once it does. */
  async begin(): Promise<void> {
    const listen = this.address.replace('http://', '');
    const child = spawn(BINARY, ['serve', '--listen', listen, '--store', this.store], { env: this.environment, cwd: this.home });
    this.child = child;
    let told = '';
    const address = new Promise<string>((settle, fail) => {
      const read = (part: Buffer): void => {
        told += String(part);
        const found = /Serving on (http:\/\/[\d.]+:\d+)\. /.exec(told);
        if (found?.[1]) settle(found[1]);
      };
      child.stderr.on('data', read);
      child.stdout.on('data', read);
      child.once('exit', () => fail(new Error(`irq serve ended: ${told}`)));
      child.once('error', fail);
    });
    this.address = await address;
  }

  /** Kills it at once, as a power cut does. */
  async kill(): Promise<void> {
    const { child } = this;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  /** What a client with a new token needs. */
  async access(...options: string[]): Promise<Access> {
    return { server: this.url, token: await this.token(...options), patienceMs: PATIENCE_MS };
  }

  async token(...options: string[]): Promise<string> {
    const named = options.includes('--name') ? options : [...options, '--name', 'worker'];
    const { stdout } = await promisify(execFile)(BINARY, ['token', 'create', '--store', this.store, ...named], { env: this.environment });
    return stdout.trim();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await rm(this.home, { recursive: true });
  }

  /** A folder for files of a test; it goes with the server. */
  get folder(): string {
    return this.home;
  }

  /** Nothing of the machine's own settings or state. */
  private get environment(): NodeJS.ProcessEnv {
    return { PATH: process.env['PATH'], HOME: this.home, XDG_STATE_HOME: this.home, XDG_CONFIG_HOME: this.home };
  }
}

/** Where a test has its store: in its folder, or the same test over PostgreSQL in a schema of its own. */
function storeFor(home: string): string {
  if (process.env['IRQ_TEST_IN'] !== 'postgres') return join(home, 'store.db');
  const server = process.env['IRQ_TEST_POSTGRES'];
  if (server === undefined) throw new Error('IRQ_TEST_POSTGRES names no server; `tests/postgres/with` starts one');
  return `${server}?schema=client_${randomBytes(8).toString('hex')}`;
}
