/** A `fetch` that holds the first such answer back until its caller gives up: the server has done what was asked, and the caller does not know. */
export function heldBack(holds: (request: string) => boolean): { readonly wire: typeof fetch; readonly isHeld: Promise<void> } {
  let wasHeld = false;
  let hold = (): void => undefined;
  const isHeld = new Promise<void>((resolve) => (hold = resolve));
  const wire: typeof fetch = async (address, init = {}) => {
    if (!holds(`${init.method} ${String(address)}`) || wasHeld) return fetch(address, init);
    wasHeld = true;
    await fetch(address, { ...init, signal: null });
    return new Promise((_, reject) => {
      init.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error), { once: true });
      hold();
    });
  };
  return { wire, isHeld };
}
