/** Counts effects and models that are under way. */
export class Busy {
  private count = 0;

  get isBusy(): boolean {
    return this.count > 0;
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    this.count++;
    try {
      return await work();
    } finally {
      this.count--;
    }
  }
}
