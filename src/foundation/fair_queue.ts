/** A queue in which sources take turns: however many items one source adds, every other source waits for at most one of them before its own turn. */
export class FairQueue<T> {
  /** The items of each source in order; the source with the next turn comes first. No list is empty. */
  readonly #items = new Map<string, T[]>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** How many items of a source are waiting. */
  lengthOf(source: string): number {
    return this.#items.get(source)?.length ?? 0;
  }

  add(source: string, item: T): void {
    const items = this.#items.get(source);
    if (items) items.push(item);
    else this.#items.set(source, [item]);
    this.#length++;
  }

  /**
   * Takes the oldest item of the source whose turn it is.
   * @param isPassed sources that miss their turn, but keep their place
   * @returns undefined when no items wait, except from sources that miss their turn
   */
  take(isPassed?: (source: string) => boolean): T | undefined {
    for (const [source, items] of this.#items) {
      if (isPassed?.(source)) continue;
      const item = items.shift();
      this.#items.delete(source);
      if (items.length > 0) this.#items.set(source, items);
      this.#length--;
      return item;
    }
    return undefined;
  }

  /** Removes the items that `isMeant` accepts. */
  remove(isMeant: (item: T) => boolean): T[] {
    const removed: T[] = [];
    for (const [source, items] of this.#items) {
      const kept: T[] = [];
      for (const item of items) (isMeant(item) ? removed : kept).push(item);
      if (kept.length > 0) this.#items.set(source, kept);
      else this.#items.delete(source);
    }
    this.#length -= removed.length;
    return removed;
  }
}
