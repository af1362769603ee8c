/** Compares merge requests with the repository of their project: the commits that they name, and the refs that clients fetch. */
import { sql } from 'kysely';
import type { Database } from '../db/index.ts';
import { allRefs, objectHeader, type Repository, setKeptRefs } from '../git/index.ts';
import { counted } from '../texts/index.ts';
import type { Finding } from './finding.ts';
import type { RepositoryRow } from './repositories.ts';

/** So many are looked at together. */
const at_once = 500;

/** A merge request that was merged, or a version of one, with the commits that the repository must have. */
interface Named {
  id: number;
  iid: number;
  shas: string[];
}

const versions = (project_id: number, after: number) => sql<Named>`
  select version.id, iid, array_remove(array[head_commit_sha, start_commit_sha, base_commit_sha], null) as shas
    from merge_request_versions version join merge_requests on merge_requests.id = version.merge_request_id
   where project_id = ${project_id} and version.id > ${after} order by version.id limit ${sql.lit(at_once)}`;

const merged = (project_id: number, after: number) => sql<Named>`
  select id, iid, array_remove(array[head_commit_id, merge_commit_sha, squash_commit_sha], null) as shas
    from merge_requests where project_id = ${project_id} and state = 'merged' and id > ${after} order by id limit ${sql.lit(at_once)}`;

/** The commits that merge requests name and the repository does not have. */
async function checkCommits(
  db: Database,
  { id, full_path }: RepositoryRow,
  repository: Repository,
  named: typeof versions,
): Promise<Finding[]> {
  const missing: string[] = [];
  let example = '';
  for (let after = 0; ; ) {
    const { rows } = await named(id, after).execute(db);
    const headers = await Promise.all(
      rows.map(({ shas }) => Promise.all(shas.map((sha) => objectHeader(repository, sha)))),
    );
    for (const [row, { iid, shas }] of rows.entries())
      for (const [index, sha] of shas.entries()) {
        if (headers[row]![index]?.type === 'commit') continue;
        missing.push(sha);
        example ||= `${sha} of !${iid}`;
      }
    if (rows.length < at_once) break;
    after = rows.at(-1)!.id;
  }
  if (missing.length === 0) return [];
  const what = named === merged ? 'merge requests were merged with' : 'versions of merge requests name';
  return [
    {
      sentence: `${full_path}: ${what} ${counted(missing.length, 'commit that is', 'commits that are')} not in the repository, for example ${example}. Restore it from a backup.`,
    },
  ];
}

/** Refs of merge requests that do not exist. A job removes them when one is deleted, so that none is reported while one waits. */
async function checkStrayRefs(
  db: Database,
  { id, full_path }: RepositoryRow,
  repository: Repository,
): Promise<Finding[]> {
  const refs = Array.from(await allRefs(repository), ([ref]) => ({
    ref,
    iid: Number(/^refs\/merge-requests\/(\d+)\//.exec(ref)?.[1]),
  }));
  const ours = refs.filter(({ iid }) => Number.isSafeInteger(iid));
  if (ours.length === 0) return [];
  const { rows } = await sql<{ iid: number }>`
    select iid from merge_requests where project_id = ${id}
    union all
    select (payload->>'merge_request_iid')::integer from graphile_worker._private_jobs jobs
           join graphile_worker._private_tasks tasks on tasks.id = jobs.task_id
     where identifier = 'remove_merge_request_refs' and (payload->>'project_id')::bigint = ${id}`.execute(db);
  const known = new Set(rows.map(({ iid }) => iid));
  const stray = ours.filter(({ iid }) => !known.has(iid)).map(({ ref }) => ref);
  if (stray.length === 0) return [];
  return [
    {
      sentence: `${full_path}: ${counted(stray.length, 'ref is', 'refs are')} of merge requests that do not exist, for example ${stray[0]}.`,
      repair: async () => {
        await setKeptRefs(repository, new Map(stray.map((ref) => [ref, null])));
        return 'They are removed; the commits stay.';
      },
    },
  ];
}

/** @param repository of the project, which is not damaged */
export async function checkMergeRequests(db: Database, row: RepositoryRow, repository: Repository): Promise<Finding[]> {
  return [
    ...(await checkCommits(db, row, repository, versions)),
    ...(await checkCommits(db, row, repository, merged)),
    ...(await checkStrayRefs(db, row, repository)),
  ];
}
