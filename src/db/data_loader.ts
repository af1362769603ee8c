/**
 * Questions that many requests ask at the same time, answered together: while one statement is under way those that come in wait, and go out as the next.
 * Every question is answered by a statement that began after it was asked, so that nothing is remembered and what was revoked before is revoked in the answer.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from './connect.ts';

/** A statement that takes longer may hang (its connection may be dead): the next does not wait for it. */
const patience_ms = 50;

interface Waiting<Question, Answer> {
  question: Question;
  answer: Promise<Answer | undefined>;
  settle: PromiseWithResolvers<Answer | undefined>;
}

/** What answers several questions at once: by the key of each, none for a question without an answer. */
export type AnswerAll<Question, Answer> = (db: Database, questions: readonly Question[]) => Promise<Map<string, Answer>>;

class Batches<Question, Answer> {
  readonly #db: Database;
  readonly #answerAll: AnswerAll<Question, Answer>;
  #waiting = new Map<string, Waiting<Question, Answer>>();
  #isScheduled = false;
  #underWay = 0;
  #began_ms = 0;

  constructor(db: Database, answerAll: AnswerAll<Question, Answer>) {
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

  /** Not at once: other requests that have arrived in this turn of the event loop have not asked yet. */
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
 * Makes a function that answers one question out of one that answers many.
 * @param keyOf tells equal questions, which are asked once
 * @param answerAll gives the answers by the keys of their questions; answers are shared between callers, who must not change them
 * @returns a function whose promise is fulfilled with undefined where there is no answer, and rejected when the statement fails
 */
export function inBatches<Question, Answer>(
  keyOf: (question: Question) => string,
  answerAll: AnswerAll<Question, Answer>,
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
 * An array parameter whose length PostgreSQL does not plan by. It would find a plan made for the very array the cheaper one, and plan a prepared statement anew
 * each time, which takes several times as long as running it.
 * @param type name of the array type
 */
export const ofAnyLength = <T>(values: readonly T[], type: string): RawBuilder<readonly T[]> =>
  sql`(select ${values}::${sql.raw(type)})::${sql.raw(type)}`;
