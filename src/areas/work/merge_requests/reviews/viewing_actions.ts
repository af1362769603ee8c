/** What a reviewer has looked at: files, and versions (docs/reference/work_pages.md#reviews). */
import { sql } from 'kysely';
import type { Database } from '../../../../db/index.ts';

/** The most files of a merge request that somebody can mark; the largest ones have about as many. */
const maximumMarks = 10_000;

/** A merge request and somebody who reads it. */
export interface Viewer {
  merge_request_id: number;
  user_id: number;
}

export interface Viewing {
  /** The digests of the files that are marked as viewed, in hexadecimal. */
  viewed: ReadonlySet<string>;
  /** The last version that was seen; null before the first visit. */
  version_id: number | null;
  /** The one that had been seen last when that version was first seen. */
  before_id: number | null;
}

/** What somebody has looked at. */
export async function viewingOf(db: Database, { merge_request_id, user_id }: Viewer): Promise<Viewing> {
  const { rows } = await sql<{ viewed: string[]; version_id: number | null; before_id: number | null }>`
    select array(select encode(digest, 'hex') from merge_request_viewed_files
                  where merge_request_id = ${merge_request_id} and user_id = ${user_id}) as viewed,
           visit.version_id, visit.before_id
      from (values (1)) always
           left join merge_request_visits visit on visit.merge_request_id = ${merge_request_id} and visit.user_id = ${user_id}`.execute(
    db,
  );
  const { viewed, version_id, before_id } = rows[0]!;
  return { viewed: new Set(viewed), version_id, before_id };
}

/** Notes that somebody has seen a version, which is newer than the one that they saw last. */
export const noteVisit = (db: Database, { merge_request_id, user_id }: Viewer, version_id: number) =>
  sql`
    insert into merge_request_visits as visit (merge_request_id, user_id, version_id) values (${merge_request_id}, ${user_id}, ${version_id})
    on conflict (merge_request_id, user_id) do update set version_id = excluded.version_id, before_id = visit.version_id
     where visit.version_id < excluded.version_id`.execute(db);

/**
 * Marks a file as viewed, or no longer. Beyond 10,000 marks nothing is marked.
 * @param digest in hexadecimal
 */
export async function markViewed(
  db: Database,
  { merge_request_id, user_id }: Viewer,
  { digest, is_viewed }: { digest: string; is_viewed: boolean },
): Promise<void> {
  const bytes = sql`decode(${digest}, 'hex')`;
  const own = sql`merge_request_id = ${merge_request_id} and user_id = ${user_id}`;
  if (!is_viewed) await sql`delete from merge_request_viewed_files where ${own} and digest = ${bytes}`.execute(db);
  else
    await sql`
      insert into merge_request_viewed_files (merge_request_id, user_id, digest)
      select ${merge_request_id}, ${user_id}, ${bytes}
       where (select count(*) from merge_request_viewed_files where ${own}) < ${sql.lit(maximumMarks)}
      on conflict do nothing`.execute(db);
}
