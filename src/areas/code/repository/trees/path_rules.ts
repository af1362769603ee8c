/** Which files a search for paths means. */

/** The paths that have all words of a search, the best first: those whose name has the words, then those whose name is shorter. */
export class PathMatches {
  readonly #words: readonly string[];
  readonly #most: number;
  #found: { path: string; rank: number }[] = [];
  /** How many paths match. */
  count = 0;

  /**
   * @param search words with spaces between them, in any case and order
   * @param most the number of paths that are kept
   */
  constructor(search: string, most: number) {
    this.#words = search.toLowerCase().split(/\s+/).filter(Boolean);
    this.#most = most;
  }

  add(path: string): void {
    const lower = path.toLowerCase();
    if (!this.#words.every((word) => lower.includes(word))) return;
    this.count += 1;
    // Without words, the order of the repository.
    if (this.#words.length === 0) {
      if (this.#found.length < this.#most) this.#found.push({ path, rank: 0 });
      return;
    }
    const name = lower.slice(lower.lastIndexOf('/') + 1);
    const outside = this.#words.filter((word) => !name.includes(word)).length;
    const isStart = name.startsWith(this.#words[0]!);
    this.#found.push({ path, rank: outside * 100_000 + (isStart ? 0 : 10_000) + path.length });
    if (this.#found.length >= this.#most * 4) this.#keepBest();
  }

  #keepBest(): void {
    this.#found = this.#found.sort((one, other) => one.rank - other.rank).slice(0, this.#most);
  }

  best(): string[] {
    this.#keepBest();
    return this.#found.map(({ path }) => path);
  }
}
