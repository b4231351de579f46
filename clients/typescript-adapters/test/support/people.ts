import { type Interrupt, type InterruptFilter, type Operator, Workflow, closed } from 'interrupt-router';
import { eventually } from '../../../typescript/test/support/eventually.js';

/** The workflow of the tests. */
export const desk = new Workflow('desk', {
  kinds: { DESK: null, REFUNDS: 'refund', LEGAL: 'legal' },
  routes: {
    refund: closed({ cents: { type: 'integer', minimum: 1, maximum: 100_000 } }),
    legal: closed({ matter: { type: 'string', maxLength: 2_000 } }),
  },
});

/** The questions that a run asks, once so many are open. */
export function openQuestions(person: Operator, run: string, count = 1): Promise<Interrupt[]> {
  return eventually(async () => {
    const found = await questions(person, run, ['open']);
    return found.length === count && found;
  }, `${run} asks ${count} questions`);
}

/** The question that a run asks. */
export async function openQuestion(person: Operator, run: string): Promise<Interrupt> {
  const [question] = await openQuestions(person, run);
  return question as Interrupt;
}

/** All questions that a run has ever asked. */
export function allQuestions(person: Operator, run: string): Promise<Interrupt[]> {
  return questions(person, run, ['open', 'resolved', 'rerouted', 'expired', 'cancelled']);
}

async function questions(person: Operator, run: string, states: readonly NonNullable<InterruptFilter['status']>[]): Promise<Interrupt[]> {
  const runId = await person.run(run).then(
    (it) => it.runId,
    () => undefined,
  );
  const found: Interrupt[] = [];
  if (runId === undefined) return found;
  for (const status of states) {
    for await (const it of person.interrupts({ status, runId })) if (it.type === 'HUMAN_REVIEW') found.push(it);
  }
  return found;
}
