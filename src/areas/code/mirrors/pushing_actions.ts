/** A run of a push mirror: compares the other repository with this one, and sends the differences (docs/reference/mirrors.md#what-is-sent). */
import { sql } from 'kysely';
import { projectState } from '../../../access/index.ts';
import {
  allRefs,
  GitError,
  isAncestor,
  pushToRemote,
  type RefUpdate,
  type Refused,
  type Remote,
  type Repository,
  remoteRefs,
  repositoryOf,
} from '../../../git/index.ts';
import { Ended, type JobCall } from '../../../jobs/index.ts';
import type { JobServices } from '../../../services/index.ts';
import { pushSoon } from './actions.ts';
import { sendLargeFiles } from './large_file_actions.ts';
import { tellOfFailure } from './mail_jobs.ts';
import { type Outcome, outcomeOf } from './outcome_actions.ts';
import type { RemoteMirrorRow } from './queries.ts';
import type { LargeFileApiFor } from './reaching_actions.ts';
import { pauseBeforePush_s } from './rules.ts';
import { isAll, selectedRefs } from './selection_queries.ts';

/** During a push, the other server sends only refs and progress. */
const most_bytes = 256 * 1024 * 1024;
const divergedText = 'Some refs have diverged and have not been updated on the remote:';

type Mirror = RemoteMirrorRow & { storage: string; may_be_local: boolean };

/** Begins a run, and reads everything it needs, in one statement. */
async function begun({ db }: Pick<JobServices, 'db'>, id: number): Promise<Mirror | undefined> {
  const { rows } = await sql<Mirror>`
    update remote_mirrors set update_status = 'started', last_update_started_at = now()
      from projects, application_settings
     where remote_mirrors.id = ${id} and enabled and projects.id = project_id and application_settings.id = 1
    returning remote_mirrors.*, storage, allow_local_requests_from_web_hooks_and_services as may_be_local`.execute(db);
  return rows[0];
}

/**
 * Checks that a run still has its project and the mirror.
 * @throws Ended
 */
export async function confirmPush({ db, input }: JobCall<{ remote_mirror_id: number }>): Promise<void> {
  const { rows } = await sql`
    select from remote_mirrors join projects on projects.id = project_id
     where remote_mirrors.id = ${input.remote_mirror_id} and enabled and not ${projectState.marked_for_deletion}`.execute(
    db,
  );
  if (rows.length === 0) throw new Ended('The project or its mirror is gone.');
}

interface Plan {
  updates: RefUpdate[];
  /** Refs left unchanged on the other server. */
  diverged: string[];
}

/** Whether all commits of a branch on the other server are in this repository. */
async function followsOn(repository: Repository, there: string, here: string): Promise<boolean> {
  try {
    return await isAncestor(repository, there, here);
  } catch (error) {
    // Their commit is not here.
    if (error instanceof GitError) return false;
    throw error;
  }
}

/** The refs to create, update and delete on the other server. */
async function planFor(
  { db }: Pick<JobServices, 'db'>,
  mirror: Mirror,
  repository: Repository,
  there: ReadonlyMap<string, string>,
): Promise<Plan> {
  const selection = { only_protected: mirror.only_protected_branches, regex: mirror.mirror_branch_regex };
  const here = new Map([...(await allRefs(repository))].filter(([ref]) => /^refs\/(?:heads|tags)\//.test(ref)));
  const selected = await selectedRefs(db, mirror.project_id, selection, [...here.keys()]);
  const plan: Plan = { updates: [], diverged: [] };
  for (const ref of selected) {
    const [old, target] = [there.get(ref) ?? null, here.get(ref)!];
    if (old === target) continue;
    const isLeft = mirror.keep_divergent_refs && old !== null && !(await followsOn(repository, old, target));
    if (isLeft) plan.diverged.push(ref);
    else plan.updates.push({ ref, old, new: target });
  }
  if (isAll(selection) && !mirror.keep_divergent_refs)
    for (const [ref, old] of there) if (!here.has(ref)) plan.updates.push({ ref, old, new: null });
  return plan;
}

/** The work that a completed run skipped, for people; null if it did everything. */
function leftUndone(diverged: readonly string[], refused: readonly Refused[]): string | null {
  const lines = refused.map(({ ref, reason }) => `${ref}: ${reason}`);
  const texts = [
    ...(diverged.length > 0 ? [`${divergedText}\n\n${diverged.join('\n')}`] : []),
    ...(lines.length > 0 ? [`The remote refused some refs:\n\n${lines.join('\n')}`] : []),
  ];
  return texts.length > 0 ? texts.join('\n\n') : null;
}

async function pushTo(
  call: JobServices,
  mirror: Mirror,
  remote: Remote,
  { apiFor, signal }: { apiFor: LargeFileApiFor; signal: AbortSignal },
): Promise<Pick<Outcome, 'error' | 'may_repeat'>> {
  const repository = repositoryOf(call, { id: mirror.project_id, storage: mirror.storage });
  const { refs: there } = await remoteRefs(remote, { signal });
  const { updates, diverged } = await planFor(call, mirror, repository, there);
  if (updates.some((update) => update.new !== null)) {
    const { may_be_local } = mirror;
    const place = { apiFor, may_be_local, most_bytes: Number.MAX_SAFE_INTEGER, signal };
    // The other server may refuse commits if it lacks their large files.
    await sendLargeFiles(call, mirror.project_id, mirror.large_files_sent_at, place);
    await noteLargeFiles(call, mirror);
  }
  const refused = updates.length > 0 ? await pushToRemote(repository, remote, updates, signal) : [];
  return { error: leftUndone(diverged, refused), may_repeat: refused.length > 0 };
}

const noteLargeFiles = ({ db }: Pick<JobServices, 'db'>, { id }: Mirror) =>
  db
    .updateTable('remote_mirrors')
    .set({ large_files_sent_at: sql<string>`last_update_started_at` })
    .where('id', '=', id)
    .execute();

/** Runs a push mirror once. Failures are retried with growing delays; then the maintainers are notified, once until it succeeds. */
export async function runPush(call: JobCall<{ remote_mirror_id: number }>): Promise<void> {
  const mirror = await begun(call, call.input.remote_mirror_id);
  if (!mirror) return;
  const { error, may_repeat, host_keys } = await outcomeOf(call, { mirror, most_bytes }, (remote, how) =>
    pushTo(call, mirror, remote, how),
  );
  const failures = error === null ? 0 : mirror.failures + 1;
  const pause_s = error !== null && may_repeat ? pauseBeforePush_s(failures) : undefined;
  const status = error === null ? 'finished' : pause_s === undefined ? 'failed' : 'to_retry';
  const is_told = error !== null && (mirror.is_told || status === 'failed');
  await call.db.transaction().execute(async (tx) => {
    const ended = await tx
      .updateTable('remote_mirrors')
      .set({
        update_status: status,
        last_update_at: sql<string>`now()`,
        ...(error === null ? { last_successful_update_at: sql<string>`now()` } : {}),
        last_error: error,
        failures: status === 'failed' ? 0 : failures,
        is_told,
        host_keys: sql<
          string[]
        >`case when host_keys = ${mirror.host_keys}::text[] then ${host_keys}::text[] else host_keys end`,
      })
      .where('id', '=', mirror.id)
      .returning('enabled')
      .executeTakeFirst();
    if (!ended) return;
    if (pause_s !== undefined && ended.enabled) await pushSoon(tx, mirror, pause_s);
    if (is_told && !mirror.is_told && ended.enabled)
      await tellOfFailure(tx, mirror.project_id, { kind: 'push', mirror_id: mirror.id });
  });
}
