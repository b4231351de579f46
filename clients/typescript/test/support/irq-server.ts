import { Operator } from '../../src/people/operator.js';
import { Router, type RouterOptions } from '../../src/router.js';
import { IrqProcess } from './irq-process.js';

/** A real server, with workers and people of this package. */
export class IrqServer extends IrqProcess {
  /** A worker of a workflow. */
  async router(workflow: { readonly name: string }, options: RouterOptions = {}): Promise<Router> {
    return new Router({ ...(await this.access('--role', 'worker', '--workflow', workflow.name)), leaseMs: 3_000, ...options });
  }

  /** A person. */
  async operator(name: string, role: 'viewer' | 'reviewer' | 'supervisor' = 'supervisor'): Promise<Operator> {
    return new Operator(await this.access('--role', role, '--name', name));
  }
}
