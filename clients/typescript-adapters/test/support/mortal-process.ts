import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** How a process ended. */
export interface End {
  readonly code: number | null;
  readonly wasKilled: boolean;
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
      wasKilled: signal === 'SIGKILL',
      output: this.output,
    }));
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }
}
