/**
 * A data loader: concurrent lookups of many requests share a statement. While a statement runs, new lookups wait for the next one. Each lookup is answered by a
 * statement that started after it, so nothing is cached and a revocation takes effect at once.
 */
import DataLoader from 'dataloader';
import { type RawBuilder, sql } from 'kysely';
import type { Database } from './connect.ts';

/** A statement that takes longer may hang on a dead connection, so the next one starts without waiting for it. */
const patience_ms = 50;

/** Answers several lookups in one statement with a map by key; keys without an answer are absent. */
export type LoadAll<Question, Answer> = (db: Database, questions: readonly Question[]) => Promise<Map<string, Answer>>;

/** The lookups of one database. The library collects those that are equal; when a statement starts is decided here. */
function batched<Question, Answer>(
  db: Database,
  keyOf: (question: Question) => string,
  answerAll: LoadAll<Question, Answer>,
): (question: Question) => Promise<Answer | undefined> {
  let dispatch: (() => void) | undefined;
  let underWay = 0;
  let began_ms = 0;
  /** Deferred, so that other requests of this turn of the event loop can join. */
  const schedule = () => {
    if (dispatch) setImmediate(dispatch);
    dispatch = undefined;
  };
  const run = async (questions: readonly Question[]) => {
    // What is asked from now on is looked up again.
    loader.clearAll();
    underWay += 1;
    began_ms = performance.now();
    try {
      const answers = await answerAll(db, questions);
      return questions.map((question) => answers.get(keyOf(question)));
    } finally {
      underWay -= 1;
      schedule();
    }
  };
  const batchScheduleFn = (start: () => void) => {
    dispatch = start;
  };
  const loader = new DataLoader<Question, Answer | undefined, string>(run, { cacheKeyFn: keyOf, batchScheduleFn });
  return (question) => {
    const answer = loader.load(question);
    if (underWay === 0 || performance.now() - began_ms > patience_ms) schedule();
    return answer;
  };
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
  const loaders = new WeakMap<Database, (question: Question) => Promise<Answer | undefined>>();
  return (db, question) => {
    let ask = loaders.get(db);
    if (!ask) {
      ask = batched(db, keyOf, answerAll);
      loaders.set(db, ask);
    }
    return ask(question);
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
