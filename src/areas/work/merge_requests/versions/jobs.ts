/** The effects of new merge requests, and of moves of their branches (docs/reference/merge_requests.md#versions). */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { theMergeRequest } from '../../../../access/index.ts';
import { type Database, ofAnyLength } from '../../../../db/index.ts';
import { pagePath } from '../../../../foundation/addresses.ts';
import {
  fetchCommit,
  keepAroundRef,
  listCommits,
  mergeBase,
  mergeRequestRef,
  reachableFrom,
  refRetries,
  repositoryOf,
  resolveBranch,
  resolveCommit,
} from '../../../../git/index.ts';
import { Id, nullable, optional, type Services } from '../../../../http/index.ts';
import { job } from '../../../../jobs/index.ts';
import { addNotification } from '../../../activity/notifications/index.ts';
import { mergeWhenReady } from '../../../code/commit_statuses/index.ts';
import { keepRefs, recordMerge } from '../../../code/repository/index.ts';
import { addSystemNote } from '../../../conversation/notes/index.ts';
import { tellOfMergeRequest } from '../../issuables/hooks/actions.ts';
import { resetOutdated, selectiveRemoval } from '../approvals/actions.ts';
import { type MergeFacts, mergeFacts } from '../branch_queries.ts';
import { refreshClosedIssues } from '../closing/actions.ts';
import { linkLargeFiles } from '../merging/large_file_actions.ts';
import { checkBranches, storeCheck, uncheckedAgain } from '../merging/status_git.ts';
import { addVersion, type Heads } from './actions.ts';
import { followThreads } from './follow_jobs.ts';
import { contentOf, type VersionContent } from './git.ts';
import { enqueuePipeline } from './pipeline_jobs.ts';
import { branchGone, branchRestored, commitsAdded, maximumListed, mergeAborted } from './rules.ts';

type JobServices = Pick<Services, 'db' | 'storages' | 'url'>;

/** The most versions whose commits are kept when the first job of a merge request runs. */
const maximumKept = 100;

const diffsPage = pagePath('/:project/-/merge_requests/:merge_request_iid/diffs');

/** Keeps the commits of the versions so far: branches may have moved several times before the first job ran. */
async function keepVersions(
  tx: Database,
  services: Pick<Services, 'storages'>,
  { id: merge_request_id, target }: MergeFacts,
): Promise<void> {
  const into = repositoryOf(services, target);
  const versions = tx
    .selectFrom('merge_request_versions')
    .select(['head_commit_sha', 'start_commit_sha'])
    .where('merge_request_id', '=', merge_request_id);
  const rows = await versions.orderBy('id', 'desc').limit(maximumKept).execute();
  const ids = new Set(rows.flatMap(({ head_commit_sha, start_commit_sha }) => [head_commit_sha, start_commit_sha]));
  const there = await Promise.all([...ids].map((id) => resolveCommit(into, id)));
  const refs = new Map(there.flatMap((id) => (id === undefined ? [] : [[keepAroundRef(id), id]])));
  await keepRefs(tx, services, target, refs);
}

/** Keeps the commits of a version in the target repository, and publishes its head as a ref. */
const keepVersion = (
  tx: Database,
  services: Pick<Services, 'storages'>,
  { iid, target }: MergeFacts,
  { head, start }: Pick<Heads, 'head' | 'start'>,
): Promise<void> =>
  keepRefs(
    tx,
    services,
    target,
    new Map([
      [keepAroundRef(head), head],
      [keepAroundRef(start), start],
      [mergeRequestRef(iid, 'head'), head],
    ]),
  );

const lockedVersion = (tx: Database, id: number) =>
  tx.selectFrom('merge_requests').select('latest_version_id').where('id', '=', id).forNoKeyUpdate().executeTakeFirst();

/** Stores the content of the latest version of a merge request. */
async function storeContent(
  tx: Database,
  { merge_request_id, version_id }: { merge_request_id: number; version_id: number },
  { counts, commit_ids }: VersionContent,
): Promise<void> {
  await tx.updateTable('merge_request_versions').set(counts).where('id', '=', version_id).execute();
  const given = ofAnyLength(commit_ids, 'text[]');
  await sql`delete from merge_request_commits where merge_request_id = ${merge_request_id} and sha <> all(${given})`.execute(
    tx,
  );
  await sql`
    insert into merge_request_commits (merge_request_id, sha) select ${merge_request_id}, unnest(${given})
    on conflict do nothing`.execute(tx);
}

/**
 * Enqueued with a merge request, and when it is reopened or gets another target: keeps its version, counts its files and commits, computes its merge status, and records which
 * issues it closes.
 */
export const prepareMergeRequest = job('prepare_merge_request', {
  input: { merge_request_id: Id },
  retries: refRetries,
  run: async ({ input, ...services }) => {
    const { db, storages } = services;
    const [facts] = await mergeFacts(db, [input.merge_request_id]);
    if (!facts?.version) return;
    const { id, head_commit_sha: head, start_commit_sha: start, base_commit_sha: base } = facts.version;
    const into = repositoryOf({ storages }, facts.target);
    const content = await contentOf(into, { head, start, base });
    await linkLargeFiles(services, facts, head);
    await db.transaction().execute(async (tx) => {
      // Locked, so that nothing is kept for a merge request being deleted, and no content is stored for a version that is no longer the latest.
      const row = await lockedVersion(tx, facts.id);
      if (!row) return;
      if (row.latest_version_id === id) await storeContent(tx, { merge_request_id: facts.id, version_id: id }, content);
      await keepVersions(tx, { storages }, facts);
      await keepVersion(tx, { storages }, facts, { head, start });
    });
    if (facts.state === 'opened') await storeCheck(db, facts, await checkBranches({ storages }, facts));
    await refreshClosedIssues(services, facts);
  },
});

/** The number processed at once. */
const at_once = 100;

/** The open merge requests with one of these branches as source or target. */
async function openOnes(
  db: Database,
  side: 'source' | 'target',
  project_id: number,
  branches: readonly string[],
  after: number,
) {
  const isOurs =
    side === 'source'
      ? sql<boolean>`source_project_id = ${project_id} and source_branch = any(${ofAnyLength(branches, 'text[]')})`
      : sql<boolean>`project_id = ${project_id} and target_branch = any(${ofAnyLength(branches, 'text[]')})`;
  const rows = await db
    .selectFrom('merge_requests')
    .select('id')
    .where(isOurs)
    .where('state', '=', 'opened')
    .where('id', '>', after)
    .orderBy('id')
    .limit(at_once)
    .execute();
  return rows.map(({ id }) => id);
}

/** Who moved branches, and what they said with it. */
interface Pusher {
  user_id: number | null;
  /** The options of the push, encrypted, in Base64, and the commits that it brought. */
  pushed?: { heads: readonly string[]; options: string } | undefined;
}

/** Enqueued by every move of branches that are the source or target of open merge requests. It reads the current heads of the branches, so running it twice changes nothing. */
export const followMergeRequests = job('follow_branches', {
  input: {
    project_id: Id,
    user_id: nullable(Id),
    branches: Type.Array(Type.String()),
    pushed: optional(Type.Object({ heads: Type.Array(Type.String()), options: Type.String() })),
  },
  retries: refRetries,
  run: async ({ input: { project_id, branches, ...pusher }, signal, ...services }) => {
    for (const side of ['target', 'source'] as const) {
      const follow = side === 'source' ? followSource : followTarget;
      for (let after = 0; ; ) {
        signal.throwIfAborted();
        const ids = await openOnes(services.db, side, project_id, branches, after);
        await follow(services, await mergeFacts(services.db, ids), pusher);
        if (ids.length < at_once) break;
        after = ids.at(-1)!;
      }
    }
  },
});

const withoutCommits = { merge_commit_sha: null, squash_commit_sha: null, should_remove_source_branch: null };

/** Updates merge requests whose target branch has moved: those now contained in it were merged by a push; for the others, the stored merge status is outdated. */
async function followTarget(services: JobServices, all: readonly MergeFacts[], { user_id }: Pusher): Promise<void> {
  for (const group of Map.groupBy(all, ({ target_branch }) => target_branch).values()) {
    const { target, target_branch } = group[0]!;
    const into = repositoryOf(services, target);
    const target_head = await resolveBranch(into, target_branch);
    if (target_head === undefined) continue;
    // A source branch that never had new commits cannot have been merged by a push.
    const versions = group.flatMap(({ id, version }) =>
      version && version.head_commit_sha !== version.base_commit_sha ? [{ id, head: version.head_commit_sha }] : [],
    );
    const contained = await reachableFrom(
      into,
      target_head,
      versions.map(({ head }) => head),
    );
    const merged = versions.filter(({ head }) => contained.has(head));
    const ids = group.map(({ id }) => id);
    await services.db.transaction().execute(async (tx) => {
      for (const { id, head } of merged)
        await recordMerge(tx, id, { ...withoutCommits, head_commit_id: head, user_id });
      await sql`
        update merge_requests set merge_status = ${uncheckedAgain}
         where id = any(${ofAnyLength(ids, 'bigint[]')}) and state = 'opened' and merge_status in ('can_be_merged', 'cannot_be_merged')
           and checked_target_sha is distinct from ${target_head}`.execute(tx);
      // The CODEOWNERS file of the branch may have changed.
      const waiting = group.filter(
        ({ auto_merge_user_id, asks_approvals }) => auto_merge_user_id !== null && asks_approvals,
      );
      const shas = new Set(waiting.flatMap(({ head_commit_id }) => head_commit_id ?? []));
      await mergeWhenReady.enqueueEach(
        tx,
        [...shas].map((sha) => ({ sha })),
      );
    });
  }
}

async function followSource(services: JobServices, all: readonly MergeFacts[], pusher: Pusher): Promise<void> {
  for (const facts of all) {
    if (!facts.source) continue;
    const from = repositoryOf(services, facts.source);
    const head = await resolveBranch(from, facts.source_branch);
    if ((head === undefined) !== facts.source_branch_gone)
      await noteBranch(services.db, facts, pusher.user_id, head === undefined);
    if (head !== undefined && head !== facts.head_commit_id) await followHead(services, facts, head, pusher);
    const [now] = await mergeFacts(services.db, [facts.id]);
    if (now?.state !== 'opened') continue;
    await storeCheck(services.db, now, await checkBranches(services, now));
    await refreshClosedIssues(services, now);
  }
}

async function tellOfPush(
  tx: Database,
  { id, project_id, head_commit_id }: MergeFacts,
  actor_id: number,
): Promise<void> {
  await addNotification(tx, {
    event: 'push_to_merge_request',
    target_type: 'MergeRequest',
    target_id: id,
    actor_id,
    user_ids: [],
  });
  await tellOfMergeRequest(tx, { id, project_id, actor_id, action: 'update' }, { oldrev: head_commit_id });
}

/** Writes a system note that the source branch was deleted or restored. */
async function noteBranch(db: Database, facts: MergeFacts, user_id: number | null, isGone: boolean): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const changed = await tx
      .updateTable('merge_requests')
      .set({ source_branch_gone: isGone })
      .where('id', '=', facts.id)
      .where('source_branch_gone', '=', !isGone)
      .returning('id')
      .executeTakeFirst();
    const words = isGone ? branchGone(facts.source_branch) : branchRestored(facts.source_branch);
    if (changed) await addSystemNote(tx, theMergeRequest(facts.id), user_id, words);
  });
}

/** The heads of a merge request's branches, with a new head of its source branch, which is fetched into the target repository. */
async function headsWith(services: JobServices, facts: MergeFacts, head: string): Promise<Heads> {
  const into = repositoryOf(services, facts.target);
  if (facts.source && facts.source.id !== facts.target.id)
    await fetchCommit(repositoryOf(services, facts.source), into, head);
  const start = (await resolveBranch(into, facts.target_branch)) ?? facts.version?.start_commit_sha ?? head;
  return { head, start, base: (await mergeBase(into, [head, start])) ?? null };
}

/** Records a new version of an open merge request, with a system note about its new commits. An auto-merge for the previous version is cancelled. */
async function followHead(
  services: JobServices,
  facts: MergeFacts,
  head: string,
  { user_id, pushed }: Pusher,
): Promise<void> {
  const into = repositoryOf(services, facts.target);
  const heads = await headsWith(services, facts, head);
  await linkLargeFiles(services, facts, head);
  const { head_commit_id: before } = facts;
  const known = before === null ? [heads.start] : [before, heads.start];
  const [commits, content, removeOwners] = await Promise.all([
    listCommits(into, { from: [head], not: known, limit: maximumListed + 1 }),
    contentOf(into, heads),
    selectiveRemoval(services, facts, heads),
  ]);
  const on = theMergeRequest(facts.id);
  await services.db.transaction().execute(async (tx) => {
    const row = await tx
      .selectFrom('merge_requests')
      .select(['state', 'head_commit_id', 'auto_merge_user_id'])
      .select(sql<boolean>`coalesce(auto_merge_parameters->>'sha' <> ${head}, false)`.as('aborts_merge'))
      .where('id', '=', facts.id)
      .forNoKeyUpdate()
      .executeTakeFirst();
    // Another run was faster, or the merge request was closed or merged meanwhile.
    if (row?.state !== 'opened' || row.head_commit_id !== before) return;
    const version_id = await addVersion(tx, facts.id, heads);
    await resetOutdated(tx, facts.id, user_id, 'by pushing to the branch');
    await removeOwners?.(tx, user_id);
    await followThreads.enqueue(tx, { merge_request_id: facts.id, user_id });
    await storeContent(tx, { merge_request_id: facts.id, version_id }, content);
    await tx
      .updateTable('merge_requests')
      .set({
        updated_at: sql`now()`,
        merge_status: uncheckedAgain,
        ...(row.aborts_merge ? { auto_merge_user_id: null, auto_merge_parameters: null } : {}),
      })
      .where('id', '=', facts.id)
      .execute();
    const page = `${services.url}${diffsPage(facts.target.full_path, facts.iid)}?diff_id=${version_id}`;
    const address = before === null ? page : `${page}&start_sha=${before}`;
    await addSystemNote(tx, on, user_id, commitsAdded(commits, address));
    if (user_id !== null) {
      await tellOfPush(tx, facts, user_id);
      const options = pushed?.heads.includes(head) ? { options: pushed.options } : {};
      await enqueuePipeline(tx, { merge_request_id: facts.id, user_id, sha: head, ...options });
    }
    // The auto-merge was set for this very head before the version was recorded: statuses that arrived meanwhile found no merge request with this head.
    if (row.aborts_merge) await addSystemNote(tx, on, user_id, mergeAborted);
    else if (row.auto_merge_user_id !== null) await mergeWhenReady.enqueue(tx, { sha: head });
    // Before the commit: if it fails, nothing is recorded, and this is repeated.
    await keepVersion(tx, services, facts, heads);
  });
}
