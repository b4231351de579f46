import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { LeaseLost, type Operator, Parked, type Router, type RouterOptions, type Run, Stopped, Workflow } from '../../src/index.js';
import { openQuestion } from '../support/desk.js';
import { eventually } from '../support/eventually.js';
import { IrqServer } from '../support/irq-server.js';

let server: IrqServer;
let ann: Operator;

before(async () => {
  server = await IrqServer.start();
  ann = await server.operator('ann');
});
after(() => server[Symbol.asyncDispose]());

class ToolError extends Error {}

/** What code around a question does to the error that ends it. */
type Idiom = (run: Run, effects: Effects) => Promise<unknown>;

/** What was done outside, and how often a worker had to look whether it was. */
interface Effects {
  done: number;
  looked: number;
  runs: number;
}

const ask = (run: Run, key = 'a'): Promise<unknown> => run.root.ask({ key, reason: `${key.toUpperCase()}?` });

async function wrapped(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work;
  } catch (cause) {
    throw new ToolError('the tool failed', { cause });
  }
}

/** Takes longer than a stop needs to arrive. */
function slow({ root }: Run, effects: Effects): Promise<unknown> {
  const pay = async (): Promise<string> => {
    await sleep(400);
    effects.done++;
    return 'paid';
  };
  const lookup = (): string | undefined => (effects.looked++, effects.done > 0 ? 'paid' : undefined);
  return root.effect('pay', pay, { lookup });
}

const IDIOMS: Readonly<Record<string, Idiom>> = {
  'nothing around it': (run) => ask(run),
  'an error with a cause': (run) => wrapped(ask(run)),
  'an error without a cause': (run) => ask(run).catch((error) => Promise.reject(new ToolError(`the tool failed: ${error}`))),
  'something thrown that is no error': (run) => ask(run).catch(() => Promise.reject('the tool failed')),
  'Promise.all': (run) => Promise.all([ask(run), ask(run, 'b')]),
  'Promise.all with an effect': (run, effects) => Promise.all([ask(run), slow(run, effects)]),
  'Promise.any': (run) => Promise.any([ask(run), ask(run, 'b')]),
  'Promise.any of wrapped errors, wrapped': (run) => wrapped(Promise.any([wrapped(ask(run)), wrapped(ask(run, 'b'))])),
  'Promise.allSettled': (run) => Promise.allSettled([ask(run), ask(run, 'b')]),
  'Promise.race with a timeout': (run) => Promise.race([ask(run), sleep(60_000, undefined, { signal: run.signal, ref: false })]),
  'a catch that goes on without': (run) => ask(run).catch(() => 'no answer'),
  'tries again': (run) => ask(run).catch(() => ask(run)).catch(() => ask(run)),
  'two awaited one after the other': async (run) => {
    const [a, b] = [ask(run), ask(run, 'b')];
    await b;
    return a;
  },
  'an AbortSignal in another wait': async (run, { runs }) => {
    await Promise.all([ask(run), wrapped(sleep(runs === 1 ? 60_000 : 0, undefined, { signal: run.signal }))]);
  },
  'an AbortSignal that is combined': async (run) => {
    const signal = AbortSignal.any([run.signal, AbortSignal.timeout(60_000)]);
    const aborted = new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    await Promise.race([wrapped(aborted), ask(run)]);
  },
  'the task of an agent': async (run) => {
    const clerk = await run.agent('CLERK');
    return clerk.task(() => wrapped(clerk.ask({ key: 'a', reason: 'A?' })));
  },
};

type Halt = 'pause' | 'immediate pause' | 'stop' | 'cancel' | 'park' | 'lost lease';
const HALTS: readonly Halt[] = ['pause', 'immediate pause', 'stop', 'cancel', 'park', 'lost lease'];

/** A run whose code meets a halt at its question, on a workflow of its own. */
class Scene {
  readonly effects: Effects = { done: 0, looked: 0, runs: 0 };
  private isCut = false;
  private readonly wire: typeof fetch = (...request) => (this.isCut ? Promise.reject(new TypeError('cut off')) : fetch(...request));

  constructor(
    private readonly name: string,
    private readonly idiom: Idiom,
    private readonly workflow = new Workflow(name, { kinds: { CLERK: null } }),
  ) {}

  async plays(halt: Halt): Promise<void> {
    const router = await this.router({ fetch: this.wire, leaseMs: halt === 'lost lease' ? 1_000 : 10_000 });
    switch (halt) {
      case 'pause':
      case 'immediate pause':
        return this.pauses(router, halt === 'pause' ? 'graceful' : 'immediate');
      case 'stop':
      case 'cancel':
        return this.stops(router, halt);
      case 'park':
        return this.parks(router);
      case 'lost lease':
        return this.loses(router);
    }
  }

  private async pauses(router: Router, mode: 'graceful' | 'immediate'): Promise<void> {
    const working = this.run(router);
    const { runId } = await openQuestion(ann, this.name, 'A?');
    await ann.stop(`${runId}/root`, { scope: 'run', mode });
    await assert.rejects(working, Stopped);
    await eventually(async () => (await ann.run(runId)).status === 'paused', 'the run is paused');
    assert.equal(this.effects.looked, 0);
    await openQuestion(ann, this.name, 'A?');
    await ann.resume(runId);
    await this.completes(await this.router());
  }

  private async stops(router: Router, halt: 'stop' | 'cancel'): Promise<void> {
    const working = this.run(router);
    const { runId } = await openQuestion(ann, this.name, 'A?');
    if (halt === 'cancel') await ann.cancel(runId, { reason: 'not wanted' });
    else await ann.stop(`${runId}/root`, { scope: 'run', type: 'STOP', mode: 'immediate' });
    await assert.rejects(working, Stopped);
    // The server carries it out in an epoch of its own, which may take longer than the request of the worker.
    await eventually(async () => (await ann.run(runId)).status === 'cancelled', 'the run is cancelled');
  }

  private async parks(router: Router): Promise<void> {
    const ending = new AbortController();
    const failures: unknown[] = [];
    const options = { workers: 1, parkAfterMs: 200, signal: ending.signal, onFailure: (error: unknown) => failures.push(error) };
    const working = router.work(this.workflow, this.code, options);
    await this.create();
    await eventually(async () => (await ann.run(this.name)).status === 'waiting', 'the run rests');
    assert.ok(this.effects.looked === 0);
    await this.isAnswered();
    ending.abort();
    await working;
    assert.deepEqual(failures.filter((it) => !(it instanceof Parked)), []);
  }

  private async loses(router: Router): Promise<void> {
    const losing = this.run(router);
    losing.catch(() => undefined);
    await openQuestion(ann, this.name, 'A?');
    this.isCut = true;
    const winning = this.run(await this.router());
    await eventually(async () => (await this.epoch()) > 1, 'another worker takes the run');
    this.isCut = false;
    await assert.rejects(losing, LeaseLost);
    await this.isAnswered();
    await winning;
  }

  private async completes(router: Router): Promise<void> {
    const working = eventually(() => this.run(router).then(() => true, (error) => error.code !== 'run-paused' && Promise.reject(error)), 'resumed');
    await Promise.all([working, this.isAnswered()]);
  }

  /** A person answers what is asked until the run is completed. */
  private async isAnswered(): Promise<void> {
    const status = await eventually(async () => {
      const { runId, status } = await ann.run(this.name);
      if (status === 'completed' || status === 'failed') return status;
      for await (const question of ann.interrupts({ runId })) await ann.decide(question, 'approve').catch(() => undefined);
      return undefined;
    }, 'the run ends');
    assert.equal(status, 'completed');
    assert.ok(this.effects.done <= 1);
  }

  private async epoch(): Promise<number> {
    const headers = { authorization: `Bearer ${await this.token()}` };
    const { runId } = await ann.run(this.name);
    return ((await (await fetch(`${server.url}/v1/work/${runId}`, { headers })).json()) as { epoch: number }).epoch;
  }

  private token(): Promise<string> {
    return server.token('--role', 'worker', '--workflow', this.name);
  }

  private router(options: RouterOptions = {}): Promise<Router> {
    return server.router(this.workflow, options);
  }

  private run(router: Router): Promise<unknown> {
    return router.run(this.workflow, { alias: this.name, input: null }, this.code);
  }

  private readonly code = (run: object): Promise<unknown> => {
    this.effects.runs++;
    return this.idiom(run as Run, this.effects);
  };

  private async create(): Promise<void> {
    const headers = { authorization: `Bearer ${await this.token()}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ input: null, thread_id: this.name });
    const created = (): Promise<Response> => fetch(`${server.url}/v1/workflows/${this.name}/runs`, { method: 'POST', headers, body });
    await eventually(async () => (await created()).ok, 'the workflow is registered');
  }
}

for (const halt of HALTS) {
  describe(`${halt}: the run does not fail, and its questions stay`, { concurrency: 16 }, () => {
    for (const [index, [name, idiom]] of Object.entries(IDIOMS).entries()) {
      test(name, () => new Scene(`${halt.replace(' ', '-')}-${index}`, idiom).plays(halt));
    }
  });
}

for (const name of ['an error with a cause', 'an error without a cause', 'Promise.any', 'Promise.allSettled', 'a catch that goes on without'] as const) {
  test(`an agent that is pruned alone ends alone, with ${name} around its question`, async () => {
    const alias = `pruned-${name.replaceAll(/[ .]/g, '-')}`;
    const workflow = new Workflow(alias, { kinds: { CLERK: null } });
    const router = await server.router(workflow);
    const running = router.run(workflow, { alias, input: null }, async (run) => {
      const clerk = await run.agent('CLERK');
      const own = { root: clerk } as unknown as Run;
      const given = await clerk.task(() => Promise.resolve(IDIOMS[name]?.(own, { done: 0, looked: 0, runs: 1 })));
      return `${given} ${run.signal.aborted}`;
    });
    const { agentId } = await openQuestion(ann, alias, 'A?');
    await ann.stop(agentId, { type: 'PRUNE', reason: 'too expensive' });
    assert.equal(await running, 'undefined false');
    const [root] = await ann.tree(alias);
    assert.deepEqual([root?.status, root?.children[0]?.status], ['completed', 'pruned']);
  });
}
