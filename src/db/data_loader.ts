/**
 * A data loader: lookups that many requests make at the same time share a statement. While a statement runs, new lookups wait for the next one. Each lookup
 * is answered by a statement that started after it, so nothing is cached and a revocation takes effect at once.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from './connect.ts';

/** A statement that takes longer may hang on a dead connection, so the next one does not wait for it. */
const patience_ms = 50;

interface Waiting<Question, Answer> {
  question: Question;
  answer: Promise<Answer | undefined>;
  settle: PromiseWithResolvers<Answer | undefined>;
}

/** Answers several lookups in one statement with a map by key; keys without an answer are absent. */
export type LoadAll<Question, Answer> = (db: Database, questions: readonly Question[]) => Promise<Map<string, Answer>>;

class Batches<Question, Answer> {
  readonly #db: Database;
  readonly #answerAll: LoadAll<Question, Answer>;
  #waiting = new Map<string, Waiting<Question, Answer>>();
  #isScheduled = false;
  #underWay = 0;
  #began_ms = 0;

  constructor(db: Database, answerAll: LoadAll<Question, Answer>) {
    this.#db = db;
    this.#answerAll = answerAll;
  }

  ask(key: string, question: Question): Promise<Answer | undefined> {
    let waiting = this.#waiting.get(key);
    if (!waiting) {
      const settle = Promise.withResolvers<Answer | undefined>();
      waiting = { question, answer: settle.promise, settle };
      this.#waiting.set(key, waiting);
    }
    if (this.#underWay === 0 || performance.now() - this.#began_ms > patience_ms) this.#schedule();
    return waiting.answer;
  }

  /** Deferred, so that other requests of this turn of the event loop can join. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#run();
    });
  }

  async #run(): Promise<void> {
    const batch = this.#waiting;
    if (batch.size === 0) return;
    this.#waiting = new Map();
    this.#underWay += 1;
    this.#began_ms = performance.now();
    try {
      const answers = await this.#answerAll(
        this.#db,
        Array.from(batch.values(), ({ question }) => question),
      );
      for (const [key, { settle }] of batch) settle.resolve(answers.get(key));
    } catch (error) {
      for (const { settle } of batch.values()) settle.reject(error);
    }
    this.#underWay -= 1;
    if (this.#waiting.size > 0) this.#schedule();
  }
}

/**
 * Turns a function that answers many lookups into one that answers a single lookup.
 * @param keyOf the same for equal lookups, which are made once
 * @param answerAll answers by key; answers are shared between callers, who must not change them
 * @returns a function that resolves to undefined when there is no answer, and rejects when the statement fails
 */
export function dataLoader<Question, Answer>(
  keyOf: (question: Question) => string,
  answerAll: LoadAll<Question, Answer>,
): (db: Database, question: Question) => Promise<Answer | undefined> {
  const batchesOf = new WeakMap<Database, Batches<Question, Answer>>();
  return (db, question) => {
    let batches = batchesOf.get(db);
    if (!batches) {
      batches = new Batches(db, answerAll);
      batchesOf.set(db, batches);
    }
    return batches.ask(keyOf(question), question);
  };
}

/**
 * An array parameter whose length PostgreSQL ignores when it plans. Otherwise it would plan a prepared statement anew for each array, which takes several
 * times as long as running it.
 * @param type name of the array type
 */
export const ofAnyLength = <T>(
  values: readonly T[] | RawBuilder<readonly T[]>,
  type: string,
): RawBuilder<readonly T[]> => sql`(select ${values}::${sql.raw(type)})::${sql.raw(type)}`;

/**
 * A predicate: the column has one of the values. The text of the statement is the same for any number of them, so it is prepared only once; `in` would have a
 * parameter for each value.
 * @param type name of the array type of the column
 */
export const isAmong = <T>(
  column: string,
  values: readonly T[] | RawBuilder<readonly T[]>,
  type: string,
): RawBuilder<boolean> => sql`${sql.ref(column)} = any(${ofAnyLength(values, type)})`;
