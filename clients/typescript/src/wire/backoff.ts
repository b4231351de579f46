const FIRST_MS = 50;
const MOST_MS = 2_000;

/** Pauses between tries: they double up to two seconds, and a random half keeps many clients apart. */
export class Backoff {
  private ceiling = FIRST_MS;

  constructor(private readonly random: () => number = Math.random) {}

  next(): number {
    const pause = (this.ceiling / 2) * (1 + this.random());
    this.ceiling = Math.min(this.ceiling * 2, MOST_MS);
    return pause;
  }

  reset(): void {
    this.ceiling = FIRST_MS;
  }
}
