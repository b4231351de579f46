import { Invalid } from '../errors.js';

const KEY = /^[A-Za-z0-9\-_.:~]{1,150}$/;

/** A key as it may stand in an address. */
export function checked(key: string): string {
  if (KEY.test(key)) return key;
  const hint = 'a key has 1 to 150 letters, digits, -, _, ., : and ~';
  throw new Invalid({ code: 'invalid-key', detail: `${JSON.stringify(key)} cannot be a key`, hint });
}
