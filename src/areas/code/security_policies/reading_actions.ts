/** Reads the file of policies of a project, and brings what it says into force (docs/reference/security_policies.md#the-file). */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { blobSize, entryAt, type Repository, readBlob, repositoryOf, resolveBranch } from '../../../git/index.ts';
import { Id, type Services } from '../../../http/index.ts';
import { queueOf } from '../../../jobs/index.ts';
import { maximumFile_bytes, type ReadPolicies, readPolicies, tooLarge } from '../../../security_policies/index.ts';
import { retryWaitingIn } from '../commit_statuses/actions.ts';
import { unknownNames } from './checks.ts';
import { tellMaintainers } from './mail_jobs.ts';
import { policyPath } from './rules.ts';

/** The state of the file on the default branch. */
interface Found {
  commit_id: string | null;
  /** Null if there is no file. */
  blob_id: string | null;
}

async function fileOn(repository: Repository, branch: string): Promise<Found> {
  const commit_id = (await resolveBranch(repository, branch)) ?? null;
  const entry = commit_id === null ? undefined : await entryAt(repository, commit_id, policyPath);
  return { commit_id, blob_id: entry?.type === 'blob' ? entry.id : null };
}

async function read(repository: Repository, project_id: number, blob_id: string | null, signal: AbortSignal) {
  if (blob_id === null) return { policies: [], errors: [] };
  if ((await blobSize(repository, blob_id)) > maximumFile_bytes) return { policies: [], errors: [tooLarge] };
  return readPolicies((await readBlob(repository, blob_id)).toString(), project_id, signal);
}

/** Merge requests may have messages about the policies of a project. A higher area runs the job. */
export const policyMessages = queueOf('write_policy_messages', { input: { policy_project_id: Id }, retries: 3 });

/** Rechecks the auto-merges in the projects that the policies of a project reach, and the messages on their merge requests. */
export async function wakeReached(tx: Database, project_id: number): Promise<void> {
  await policyMessages.enqueue(tx, { policy_project_id: project_id }, { key: String(project_id) });
  await retryWaitingIn(
    tx,
    sql`select projects.id from projects join namespaces place on place.id = projects.namespace_id
              join security_policy_links linked on linked.project_id = projects.id or linked.group_id = any(place.traversal_ids)
         where linked.policy_project_id = ${project_id}`,
  );
}

async function store(
  tx: Database,
  project_id: number,
  found: Found,
  { policies, errors }: ReadPolicies,
): Promise<void> {
  const { commit_id, blob_id } = found;
  const isGood = errors.length === 0;
  const good = { policies: JSON.stringify(policies), commit_id, blob_id, changed_at: sql<string>`now()` };
  await tx
    .updateTable('security_policy_files')
    .set({ read_blob_id: blob_id, errors, ...(isGood ? good : {}) })
    .where('project_id', '=', project_id)
    .execute();
  if (isGood) await wakeReached(tx, project_id);
  else await tellMaintainers(tx, project_id, blob_id!);
}

/**
 * Reads the file if it is another one than the one that was read last. A file with errors leaves the last good one in force.
 * @param signal stops the reading
 */
export async function readPolicyFile(
  { db, storages }: Pick<Services, 'db' | 'storages'>,
  project_id: number,
  signal: AbortSignal,
): Promise<void> {
  const project = await db
    .selectFrom('projects')
    .innerJoin('security_policy_files as file', 'file.project_id', 'projects.id')
    .select(['id', 'storage', 'default_branch', 'read_blob_id', 'file.commit_id'])
    .where('id', '=', project_id)
    .executeTakeFirst();
  if (!project) return;
  // The links of a deleted group are gone without a word.
  await forgetFile(db, project_id);
  const repository = repositoryOf({ storages }, project);
  const found = await fileOn(repository, project.default_branch);
  if (found.blob_id === project.read_blob_id && project.commit_id !== null) return;
  const said = await read(repository, project_id, found.blob_id, signal);
  await db.transaction().execute(async (tx) => {
    // Locked, so that of two readings at once the newer one writes last: the older one finds that the branch has moved.
    const locked = tx.selectFrom('security_policy_files').select('project_id').where('project_id', '=', project_id);
    if (!(await locked.forUpdate().executeTakeFirst())) return;
    const now = await fileOn(repository, project.default_branch);
    if (now.blob_id !== found.blob_id) return;
    const unknown = said.errors.length > 0 ? [] : await unknownNames(tx, project_id, said.policies);
    await store(tx, project_id, found, { ...said, errors: [...said.errors, ...unknown] });
  });
}

/** Adds the row of a policy project, whose file is then read. */
export const expectFile = (tx: Database, project_id: number) =>
  tx
    .insertInto('security_policy_files')
    .values({ project_id })
    .onConflict((conflict) => conflict.doNothing())
    .execute();

/** Forgets the file of a project that nothing is linked to any more. */
export const forgetFile = (tx: Database, project_id: number) =>
  tx
    .deleteFrom('security_policy_files')
    .where('project_id', '=', project_id)
    .where(
      sql<boolean>`not exists (select from security_policy_links where policy_project_id = security_policy_files.project_id)`,
    )
    .execute();
