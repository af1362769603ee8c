/**
 * Runs a prepared statement. Its columns are described once per connection, not with every result, and it is sent in one piece: for a statement that returns
 * one wide row, that is half of what pg takes.
 */
import pg from 'pg';
import utils from 'pg/lib/utils.js';
import { serialize } from 'pg-protocol';
import { objectBuilder } from '../foundation/object_builder.ts';
import { types } from './values.ts';

/** Builds a row from the texts that PostgreSQL sends. */
type ReadRow = (columns: (string | null)[]) => object;

interface RowDescription {
  fields: readonly { name: string; dataTypeID: number }[];
}

/** The query of pg, with members that its types leave out. */
const Query = pg.Query as unknown as new (
  text: string,
  values: readonly unknown[],
  callback: (error: Error | undefined, result: pg.QueryResult) => void,
) => {
  name?: string;
  values: unknown[];
  _result: { parseRow: ReadRow };
  /** Whether rows are kept for the callback. */
  _accumulateRows: unknown;
  submit(connection: pg.Connection): Error | null;
  handleRowDescription(description: RowDescription): void;
  handleReadyForQuery(connection: pg.Connection): void;
};

/** The row parsers by name of statement. The columns of a prepared statement do not change: PostgreSQL refuses it if they would. */
const readers = new WeakMap<pg.Connection, Map<string, ReadRow>>();

function readersOf(connection: pg.Connection): Map<string, ReadRow> {
  const known = readers.get(connection);
  if (known) return known;
  const fresh = new Map<string, ReadRow>();
  readers.set(connection, fresh);
  return fresh;
}

function rowReader({ fields }: RowDescription): ReadRow {
  const build = objectBuilder(fields.map(({ name }) => name));
  const parsers = fields.map(({ dataTypeID }) => types.getTypeParser(dataTypeID));
  return (columns) => build(columns.map((text, index) => (text === null ? null : parsers[index]!(text))));
}

const noColumns = rowReader({ fields: [] });

const runAndSync = Buffer.concat([serialize.execute(), serialize.sync()]);

/** A query that `pg.Client` runs. Columns with one name are one member of a row, as in pg. */
export class PreparedQuery extends Query {
  override readonly name: string;
  #readRow = noColumns;

  /**
   * @param name of the statement; each name stands for one text
   * @param done is called with the error or the result
   */
  constructor(
    { name, text, values }: { name: string; text: string; values: readonly unknown[] },
    done: (error: Error | undefined, result: pg.QueryResult) => void,
  ) {
    super(text, values, done);
    this.name = name;
  }

  override submit(connection: pg.Connection): Error | null {
    const readRow = readersOf(connection).get(this.name);
    if (!readRow) return super.submit(connection);
    this._result.parseRow = readRow;
    this._accumulateRows = true;
    try {
      const bound = serialize.bind({ statement: this.name, values: this.values, valueMapper: utils.prepareValue });
      // A lost connection reports the error itself.
      if (connection.stream.writable) connection.stream.write(Buffer.concat([bound, runAndSync]));
      return null;
    } catch (error) {
      // Returned, so that the client continues with the next query.
      return error as Error;
    }
  }

  override handleRowDescription(description: RowDescription): void {
    super.handleRowDescription(description);
    this.#readRow = rowReader(description);
    this._result.parseRow = this.#readRow;
  }

  override handleReadyForQuery(connection: pg.Connection): void {
    const known = readersOf(connection);
    if (!known.has(this.name)) known.set(this.name, this.#readRow);
    super.handleReadyForQuery(connection);
  }
}
