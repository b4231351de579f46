/** Calls back once a signal fires, or at once where it has. What it gives ends that, so that nothing stays with a signal that lives long. */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (signal?.aborted) listener();
  else signal?.addEventListener('abort', listener, { once: true });
  return () => signal?.removeEventListener('abort', listener);
}
