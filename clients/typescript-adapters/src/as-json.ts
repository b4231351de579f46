/** What JSON holds of a value, with bytes as the SDK takes them from text. */
export function asJson(value: unknown): unknown {
  const isBytes = (it: unknown): it is Uint8Array => it instanceof Uint8Array;
  const text = JSON.stringify(value, (_key, it: unknown) => (isBytes(it) ? Buffer.from(it).toString('base64') : it));
  return JSON.parse(text) as unknown;
}
