import { Operator, Router, type RouterOptions } from 'interrupt-router';
import { IrqProcess } from '../../../typescript/test/support/irq-process.js';

/** A real server, with workers and people of this package. */
export class IrqServer extends IrqProcess {
  /** A worker of a workflow. */
  async router(workflow: { readonly name: string }, options: RouterOptions = {}): Promise<Router> {
    return new Router({ ...(await this.access('--role', 'worker', '--workflow', workflow.name)), leaseMs: 3_000, ...options });
  }

  /** A supervisor. */
  async operator(name: string): Promise<Operator> {
    return new Operator(await this.access('--role', 'supervisor', '--name', name));
  }
}
