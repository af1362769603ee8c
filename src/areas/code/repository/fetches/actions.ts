/** Counts clones and fetches (docs/reference/repository.md#fetches). */
import { Transform } from 'node:stream';
import { sql } from 'kysely';
import type { Database } from '../../../../db/index.ts';
import type { Services } from '../../../../http/index.ts';

/** Counts are written in batches: a busy project is fetched many times a second. */
const gathered_ms = 5000;

/** Counts of projects that are not written yet, by database. */
const waiting = new WeakMap<Database, Map<number, number>>();

/** Writes the counts. Projects that were deleted meanwhile are skipped. */
export async function writeFetches(db: Database): Promise<void> {
  const counts = waiting.get(db);
  waiting.delete(db);
  if (!counts) return;
  // Always in the same order, so that two processes do not deadlock.
  const ids = [...counts.keys()].toSorted((a, b) => a - b);
  await sql`
    insert into project_fetches (project_id, date, count)
    select id, (now() at time zone 'UTC')::date, fetches
      from unnest(${ids}::bigint[], ${ids.map((id) => counts.get(id))}::bigint[]) counted (project_id, fetches)
      join projects on projects.id = counted.project_id
     order by id
        on conflict (project_id, date) do update set count = project_fetches.count + excluded.count`.execute(db);
}

/** Counts a fetch. @param failed called if the counts cannot be written and are lost */
export function countFetch(db: Database, project_id: number, failed: (error: unknown) => void): void {
  const counts = waiting.get(db) ?? new Map<number, number>();
  if (!waiting.has(db)) {
    waiting.set(db, counts);
    setTimeout(() => void writeFetches(db).catch(failed), gathered_ms).unref();
  }
  counts.set(project_id, (counts.get(project_id) ?? 0) + 1);
}

/** The start of a request that wants objects, in protocol version 2 and earlier. Requests for refs begin with neither. */
const asksForObjects = (start: Buffer): boolean =>
  /command=fetch|^[0-9a-f]{4}want /.test(start.toString('latin1', 0, 64));

/** Passes on the data of a client, and calls back when the client requests objects. */
export function noticingFetch(noticed: () => void): Transform {
  let hasStarted = false;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (!hasStarted && asksForObjects(chunk)) noticed();
      hasStarted = true;
      done(null, chunk);
    },
  });
}

/** Whether this server counts fetches: a secondary cannot write. */
export const countsFetches = ({ geo }: Pick<Services, 'geo'>): boolean => geo.role !== 'secondary';
