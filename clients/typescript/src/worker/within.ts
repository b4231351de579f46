/** The first that fits of an error and those that it was made of: by `cause`, by `AggregateError`, or by `SuppressedError`. */
export function within(error: unknown, fits: (error: unknown) => boolean, seen: Set<unknown> = new Set()): unknown {
  if (fits(error)) return error;
  if (typeof error !== 'object' || error === null || seen.has(error)) return undefined;
  seen.add(error);
  const { cause, errors, error: last, suppressed } = error as Readonly<Record<string, unknown>>;
  for (const part of [cause, ...(Array.isArray(errors) ? errors : []), last, suppressed]) {
    const found = within(part, fits, seen);
    if (found !== undefined) return found;
  }
  return undefined;
}
