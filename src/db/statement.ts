/**
 * Statements that are compiled once. Kysely builds a tree for each execution and prints it as text; for a wide statement that takes longer than anything else that
 * the server does. PostgreSQL prepares each text once, too.
 */
import { CompiledQuery, type RawBuilder, sql } from 'kysely';
import { isKeptFromGroups } from '../foundation/clients.ts';
import type { Database } from './connect.ts';

/** A placeholder for a value in the compiled statement. */
class Slot {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** The arguments that a statement is written with: an expression for each value. */
export type Slots<Values> = { readonly [Name in keyof Values]: RawBuilder<Values[Name]> };

const slots = new Proxy({}, { get: (_, name) => sql`${new Slot(String(name))}` });

/**
 * A statement whose text cannot depend on its values, because it is written with expressions in their place. It is written anew for clients that are kept from groups.
 * @param write builds the statement, once for each shape, as SQL or with `db`
 * @returns a function that runs it; `shape` holds the flags that may change the text, with few combinations
 */
export function statement<Row, Values extends object, Shape extends Record<string, boolean> = Record<never, never>>(
  write: (slots: Slots<Values>, shape: Shape, db: Database) => { compile(db: Database): CompiledQuery<Row> },
): (db: Database, values: Values, ...shape: Record<never, never> extends Shape ? [] : [Shape]) => Promise<Row[]> {
  const compiled = new Map<string, CompiledQuery>();
  return async (db, values, given?: Shape) => {
    const shape = given ?? ({} as Shape);
    const key = Object.values(shape).join();
    // What such a client may see is part of the text.
    const isShared = !isKeptFromGroups();
    const known = (isShared && compiled.get(key)) || write(slots as Slots<Values>, shape, db).compile(db);
    if (isShared) compiled.set(key, known);
    const parameters = known.parameters.map((part) =>
      part instanceof Slot ? values[part.name as keyof Values] : part,
    );
    return (await db.executeQuery<Row>(CompiledQuery.raw(known.sql, parameters))).rows;
  };
}
