import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { eventually } from './eventually.js';

/** How a process ended. */
export interface End {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

/** A Node program that is killed at some moment, or ends by itself. */
export class MortalProcess {
  private readonly child: ChildProcess;
  private output = '';
  readonly ended: Promise<End>;

  constructor(args: readonly string[], env: NodeJS.ProcessEnv) {
    this.child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.child.stdout?.on('data', (part: Buffer) => (this.output += String(part)));
    this.child.stderr?.on('data', (part: Buffer) => (this.output += String(part)));
    this.ended = once(this.child, 'close').then(([code, signal]) => ({
      code: code as number | null,
      signal: signal as NodeJS.Signals | null,
      output: this.output,
    }));
  }

  /** Waits until it has said something. */
  async says(line: string): Promise<void> {
    await this.tells(new RegExp(`${line}\\n`));
  }

  /** Waits until it has said something, and gives what that is. */
  async tells(what: RegExp): Promise<RegExpExecArray> {
    const found = await eventually(() => what.exec(this.output) ?? (this.child.exitCode !== null && 'ended'), `it says ${what}`);
    if (found === 'ended') throw new Error(`it ended: ${this.output}`);
    return found;
  }

  /** Waits until it ends by itself. One that takes too long is killed. */
  async end(ms = 30_000): Promise<End> {
    const timer = setTimeout(() => this.child.kill('SIGKILL'), ms);
    return this.ended.finally(() => clearTimeout(timer));
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<End> {
    this.child.kill(signal);
    return this.ended;
  }
}
