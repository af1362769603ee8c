/** Background jobs that read what single commits depend on. */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { type Database, ofAnyLength } from '../../../db/index.ts';
import { Id } from '../../../http/index.ts';
import { job } from '../../../jobs/index.ts';
import { readerVersion } from './file_actions.ts';
import { readSnapshot } from './snapshot_actions.ts';

/** Enqueued by `readSoon`. */
export const readCommitDependencies = job('read_commit_dependencies', {
  input: { project_id: Id, commit_id: Type.String() },
  retries: 5,
  run: ({ input, signal, ...services }) => readSnapshot(services, input, signal),
});

/** How long a reading that was asked for is waited for before it is asked for again. */
const patience_s = 600;

/** Has the dependencies of commits read, unless that was asked for a moment ago. */
export async function readSoon(db: Database, project_id: number, commits: readonly string[]): Promise<void> {
  const { rows } = await sql<{ commit_id: string }>`
    insert into dependency_snapshots as known (project_id, commit_id, reader_version)
    select ${project_id}, commit_id, ${readerVersion} from unnest(${ofAnyLength(commits, 'text[]')}) commit_id
        on conflict (project_id, commit_id) do update set asked_at = now(), read_at = null
     where known.asked_at < now() - make_interval(secs => ${sql.lit(patience_s)}) or known.read_at is not null
    returning commit_id`.execute(db);
  await readCommitDependencies.enqueueEach(
    db,
    rows.map(({ commit_id }) => ({ project_id, commit_id })),
  );
}
