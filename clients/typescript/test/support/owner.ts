import type { IrqServer } from './irq-server.js';

/**
 * The worker that has a run; `undefined` where none has. People also see a run as executed while a server looks for stops that have
 * come for it, which it does for a moment whenever a worker lets it go.
 */
export async function ownerOf(server: IrqServer, workflow: string, runId: string): Promise<string | undefined> {
  const token = await server.token('--role', 'worker', '--workflow', workflow);
  const response = await fetch(`${server.url}/v1/work/${runId}`, { headers: { authorization: `Bearer ${token}` } });
  return ((await response.json()) as { worker?: string | null }).worker ?? undefined;
}
