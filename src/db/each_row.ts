/** Iterates over all rows of a table. */

const rowsAtOnce = 1000;

/**
 * Iterates over all rows of a table in batches of a thousand.
 * @param after selects those with a greater id, in the order of their ids
 */
export async function* eachRow<Row extends { id: number }>(
  after: (id: number) => { limit(most: number): { execute(): Promise<Row[]> } },
): AsyncGenerator<Row> {
  for (let last = 0; ; ) {
    const rows = await after(last).limit(rowsAtOnce).execute();
    if (rows.length === 0) return;
    last = rows.at(-1)!.id;
    yield* rows;
  }
}
