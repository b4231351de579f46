/** A path whose parts are encoded: path`/v1/runs/${id}`. A slash within a part, as in `run_1/root`, stays within it. */
export function path(fixed: TemplateStringsArray, ...parts: string[]): string {
  return String.raw({ raw: fixed }, ...parts.map(encodeURIComponent));
}
