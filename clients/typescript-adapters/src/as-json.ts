/** What JSON holds of a value, with bytes as the SDK takes them from text. */
export function asJson(value: unknown): unknown {
  const text = JSON.stringify(value, (_key, it: unknown) => (it instanceof Uint8Array ? Buffer.from(it).toString('base64') : it));
  return JSON.parse(text) as unknown;
}

/** What JSON held of what a model says about its answer. */
export function revived<T extends { readonly timestamp?: Date | undefined }>(metadata: T): T {
  return metadata.timestamp === undefined ? metadata : { ...metadata, timestamp: new Date(metadata.timestamp) };
}
