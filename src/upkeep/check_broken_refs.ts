/** Finds ref files without an id, which a power failure can leave, other than the recorded branches and tags. */
import { sql } from 'kysely';
import type { Database } from '../db/index.ts';
import { brokenRefs, clearBrokenRef, objectHeader, type Repository, setKeptRefs } from '../git/index.ts';
import type { Finding } from './finding.ts';
import type { RepositoryRow } from './repositories.ts';

/** Git reports them as damage of the repository, and does not pack its refs while they are there. */
export async function checkBrokenRefs(
  db: Database,
  { kind, id, full_path }: RepositoryRow,
  repository: Repository,
): Promise<Finding[]> {
  const broken = await brokenRefs(repository);
  if (broken.length === 0) return [];
  const recorded = (await kind.recordedRefs(db, id)).refs;
  return broken
    .filter((ref) => !recorded.has(ref))
    .map((ref) => ({
      sentence: `${full_path}: the file of ${ref} is damaged. \`check --recover\` restores or removes it.`,
      recover: async () => {
        const target = await keptTarget(db, id, ref);
        await clearBrokenRef(repository, ref);
        if (target === undefined || !(await objectHeader(repository, target)))
          return 'The file, which said nothing, is removed.';
        await setKeptRefs(repository, new Map([[ref, target]]));
        return `It is at ${target} again.`;
      },
    }));
}

/** The commit that a ref of ours should name: a keep-around ref is named after its commit, and the head of a merge request is the head of its last version. */
export async function keptTarget(db: Database, project_id: number, ref: string): Promise<string | undefined> {
  const kept = /^refs\/keep-around\/([0-9a-f]+)$/.exec(ref)?.[1];
  const iid = /^refs\/merge-requests\/(\d+)\/head$/.exec(ref)?.[1];
  if (iid === undefined) return kept;
  const { rows } = await sql<{ head: string }>`
    select head_commit_sha as head from merge_requests join merge_request_versions version on version.id = latest_version_id
     where project_id = ${project_id} and iid = ${iid}::integer`.execute(db);
  return rows[0]?.head;
}
