/**
 * Statements are prepared: PostgreSQL parses and plans each text once a connection. For the statement that finds a caller and the one that finds his project
 * that is more than half of their cost.
 */
import { createHash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import pg from 'pg';

/** Each prepared statement takes memory in every connection, so texts beyond these (lists whose filters vary) are sent as they are. */
const maximumStatements = 500;

/**
 * Begins a statement that is planned for its values each time: what is best for a common label is bad for a rare one, and a statement that many filters shape would
 * take the place of others that are worth keeping.
 */
export const plannedAnew: RawBuilder<never> = sql.raw('/* planned anew */');

const names = new Map<string, string>();

function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= maximumStatements) return known;
  const name = createHash('sha1').update(text).digest('hex');
  names.set(text, name);
  return name;
}

/** A connection that prepares what Kysely sends. */
export class PreparingClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    // The pool listens to idle connections only. One that is lost between two statements of a transaction says so too, and unheard the event would end the
    // process; the next statement fails with the reason.
    this.on('error', () => {});
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg's own declaration has a dozen overloads, of which Kysely uses the one with text and values.
  override query(...args: any[]): any {
    const [text, values] = args;
    // Without values pg sends several statements in one text, as migrations are; prepared ones must stand alone.
    const name =
      args.length === 2 && Array.isArray(values) && values.length > 0 && !text.startsWith('/*') ? nameOf(text) : undefined;
    return name === undefined ? super.query(...(args as [string])) : super.query({ name, text, values });
  }
}
