import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/index.ts';
import type { Command } from './command.ts';
import { briefly } from './database.ts';

/** The maximum number of failed moves that are printed. */
const maximumFailed = 100;

export const storageMoves: Command = {
  summary: 'List the storage moves that wait, run and failed',
  help: `Prints a line for each storage move that has not ended, in the order in which they run, and for the last ${maximumFailed} that failed: the ID of the move, what it
moves, the state, the storages, and why it failed, separated by tabs. If there is none, it says so on the standard error.`,
  options: {},
  run: async (_given, config) => {
    await briefly(config, async ({ db }) => {
      const waiting = await print(db, sql`state in ('scheduled', 'started', 'replicated') order by moves.id`);
      const failed = await print(
        db,
        sql`state in ('failed', 'cleanup failed') order by moves.id desc limit ${maximumFailed}`,
      );
      // Programs parse the lines of the standard output.
      if (waiting + failed === 0) console.error('No storage move waits, runs or has failed.');
    });
    return 0;
  },
};

/**
 * @param which a predicate on moves, with their order
 * @returns how many there are
 */
async function print(db: Database, which: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<
    Record<'id' | 'place' | 'state' | 'source_storage' | 'destination_storage' | 'error', string>
  >`
    select moves.id, coalesce('group ' || namespaces.full_path::text, 'project ' || projects.full_path::text, 'snippet ' || snippet_id) as place,
           state, source_storage, destination_storage, coalesce(error_message, '') as error
      from repository_storage_moves moves left join projects on projects.id = project_id left join namespaces on namespaces.id = group_id
     where ${which}`.execute(db);
  for (const { id, place, state, source_storage, destination_storage, error } of rows)
    console.log([id, place, state, source_storage, destination_storage, error].join('\t'));
  return rows.length;
}
