/**
 * Prepared statements: PostgreSQL parses and plans each text once per connection. For the statements that find a caller and their project, parsing and planning is
 * more than half of the cost.
 */
import { createHash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type pg from 'pg';
import { HostClient } from './hosts.ts';
import { PreparedQuery } from './prepared_query.ts';

/** Each prepared statement takes memory in every connection, so texts beyond this number (lists with varying filters) are not prepared. */
const maximumStatements = 500;

/**
 * The comment at the start or end of a statement that gets a custom plan for its values each time: the best plan for a common label is bad for a rare one, and
 * statements with many combinations of filters would displace others that are worth preparing.
 */
export const customPlan: RawBuilder<never> = sql.raw('/* custom plan */');

const isCustom = (text: string) => text.startsWith('/*') || text.endsWith('*/');

/** The SQLSTATE of what a commit tells of audit events. */
const auditNotice = 'CPA01';

const names = new Map<string, string>();

function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= maximumStatements) return known;
  const name = createHash('sha1').update(text).digest('hex');
  names.set(text, name);
  return name;
}

/** The SQLSTATE of a write that its session may not make, and of a server that cannot be used now. */
const [refusedWrite, unusable] = ['25006', '57P03'];

/** A connection that prepares the statements of Kysely. */
export class PreparingClient extends HostClient {
  /** Whether statements that write are meant to fail. */
  readonly #reads_only: boolean;
  /** What the database has told of the transaction that is ending. */
  #told: string[] = [];

  constructor(config: pg.ClientConfig = {}) {
    super(config);
    this.#reads_only = config.options?.includes('default_transaction_read_only=true') ?? false;
    // The pool only listens to idle connections. A connection lost between two statements of a transaction also emits this event, which would end the
    // process without a listener; the next statement fails with the reason.
    this.on('error', () => {});
    // A commit tells of audit events (migrations/0143_audit_event_lines.sql), and can fail after that.
    this.on('notice', ({ code, message }) => {
      if (code === auditNotice && message !== undefined) this.#told.push(message);
    });
    this.connection.on('errorMessage', () => {
      this.#told = [];
    });
    this.connection.on('readyForQuery', () => {
      for (const told of this.#told.splice(0)) this.emit('audited', told);
    });
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg declares a dozen overloads; Kysely uses the one with text and values.
  override query(...args: any[]): any {
    const [text, values] = args;
    // Without values a text may contain several statements, as migrations do; these cannot be prepared.
    const name =
      args.length === 2 && Array.isArray(values) && values.length > 0 && !isCustom(text) ? nameOf(text) : undefined;
    return name === undefined ? super.query(...(args as [string])) : this.#run({ name, text, values });
  }

  async #run(statement: { name: string; text: string; values: unknown[] }): Promise<pg.QueryResult> {
    const { promise, resolve, reject } = Promise.withResolvers<pg.QueryResult>();
    super.query(new PreparedQuery(statement, (error, result) => (error ? reject(error) : resolve(result))));
    try {
      return await promise;
    } catch (error) {
      // The stack of the socket's event says nothing about the caller.
      Error.captureStackTrace(error as Error);
      if (this.#reads_only || (error as pg.DatabaseError).code !== refusedWrite) throw error;
      // The primary has become a standby. The pool opens another connection.
      this.connection.stream.destroy();
      throw Object.assign(error as pg.DatabaseError, { code: unusable });
    }
  }
}
