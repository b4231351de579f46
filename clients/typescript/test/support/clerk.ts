import { setTimeout as sleep } from 'node:timers/promises';
import { AlreadyResolved, RouterError, StaleVersion } from '../../src/errors.js';
import type { DecisionOptions, Operator } from '../../src/index.js';
import type { DecisionName, DecisionRecord, Interrupt } from '../../src/people/views.js';

/** What the clerk says, and what it says it with. */
interface Say {
  readonly decision: DecisionName;
  readonly options: DecisionOptions;
}

/** What the clerk says to whom, in turn. */
const SAYS: Readonly<Record<string, readonly ((n: number) => Say)[]>> = {
  ORCHESTRATOR: [
    () => ({ decision: 'reroute', options: { rerouteTo: 'REFUNDS' } }),
    (n) => ({ decision: 'reroute', options: { rerouteTo: 'LEGAL', text: `matter ${n}` } }),
    () => ({ decision: 'reroute', options: { rerouteTo: 'REFUNDS' } }),
  ],
  REFUNDS: [
    () => ({ decision: 'approve', options: {} }),
    () => ({ decision: 'reroute', options: { rerouteTo: 'ARCHIVE' } }),
    (n) => ({ decision: 'edit', options: { request: { words: `sorry, ${n}` } } }),
  ],
};

/** A person who answers each question that is open, in one of four ways, and remembers what the server accepted. */
export class Clerk {
  /** The accepted decisions, by interrupt. */
  readonly accepted = new Map<string, { readonly record: DecisionRecord; readonly say: Say }>();
  private readonly leaving = new AbortController();
  private count = 0;

  constructor(private readonly operator: Operator) {}

  /** Answers until `leave`. */
  async answer(): Promise<void> {
    while (!this.leaving.signal.aborted) {
      try {
        for await (const question of this.operator.interrupts()) await this.decide(question);
      } catch (error) {
        // Another answer may have come first only if one of its own was accepted without a reply; the checks find that.
        if (!(error instanceof RouterError)) throw error;
      }
      await sleep(20);
    }
  }

  leave(): void {
    this.leaving.abort();
  }

  private async decide(question: Interrupt): Promise<void> {
    const n = this.count++;
    const says = SAYS[question.agentType] ?? [];
    const say = says[n % says.length]?.(n);
    if (say === undefined) return;
    try {
      const record = await this.operator.decide(question, say.decision, say.options);
      this.accepted.set(question.id, { record, say });
    } catch (error) {
      if (!(error instanceof AlreadyResolved || error instanceof StaleVersion)) throw error;
    }
  }
}
