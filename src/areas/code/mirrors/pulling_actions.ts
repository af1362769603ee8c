/** A run of a pull mirror: fetches differing refs from the other server, and moves refs as a push does (docs/reference/mirrors.md#pull-mirrors). */
import { sql } from 'kysely';
import { currentPlan, levels, projectState } from '../../../access/index.ts';
import { refusedByMove } from '../../../db/index.ts';
import {
  allRefs,
  fetchAside,
  GitError,
  isAncestor,
  objectHeader,
  RefConflict,
  RefMoved,
  type RefUpdate,
  type Remote,
  type RemoteRefs,
  type Repository,
  remoteRefs,
  repositoryOf,
  setHead,
} from '../../../git/index.ts';
import { reaches } from '../../../http/index.ts';
import { Ended, type JobCall } from '../../../jobs/index.ts';
import type { JobServices, ProjectMoveDetails } from '../../../services/index.ts';
import { moveRefs } from '../repository/moving/actions.ts';
import { projectRepositories } from '../repository/owners/project_kind.ts';
import { oddTreeRefusals } from '../repository/push_checks/checks.ts';
import { fetchLargeFiles, type LargeFilePlace } from './large_file_actions.ts';
import { tellOfFailure } from './mail_jobs.ts';
import { type Outcome, outcomeOf } from './outcome_actions.ts';
import { planOfMirrors } from './pull_actions.ts';
import type { PullMirrorRow } from './queries.ts';
import { failuresThatPause, pauseBeforePull_min } from './rules.ts';
import { keptBranches, selectedRefs } from './selection_queries.ts';

const megabyte = 1024 * 1024;
/** The most branches and tags accepted from another server. */
const maximumRefs = 100_000;
const keptText = 'Some branches change by merge requests only, by a security policy, and have not been updated:';
const divergedText = 'Some refs have diverged and have not been updated:';

interface Mirror extends PullMirrorRow {
  storage: string;
  default_branch: string;
  empty_repo: boolean;
  /** Whether this is an import: the first run of a mirror, or a one-time import. */
  is_import: boolean;
  /** Archived, or marked for deletion. */
  is_closed: boolean;
  /** Whether the mirror's user may still push. */
  may_push: boolean;
  may_be_local: boolean;
  mirror_max_delay: number;
  most_mb: number;
}

/** Begins a run, and reads everything it needs, in one statement. */
async function begun({ db }: Pick<JobServices, 'db'>, project_id: number): Promise<Mirror | undefined> {
  const { rows } = await sql<Mirror>`
    update pull_mirrors set update_status = 'started', last_update_started_at = now()
      from projects, application_settings
     where projects.id = ${project_id} and pull_mirrors.project_id = projects.id and application_settings.id = 1
       and (enabled and not is_paused or import_status in ('scheduled', 'started'))
    returning pull_mirrors.*, storage, default_branch, empty_repo, import_status in ('scheduled', 'started') as is_import,
              ${projectState.archived} or ${projectState.marked_for_deletion} as is_closed,
              coalesce((select users.state = 'active' and (users.admin or exists (
                  select from project_authorizations where project_authorizations.project_id = projects.id
                     and project_authorizations.user_id = users.id and access_level >= ${levels.maintainer}))
                from users where users.id = pull_mirrors.user_id), false) as may_push,
              allow_local_requests_from_web_hooks_and_services as may_be_local, mirror_max_delay,
              bulk_import_max_download_file_size as most_mb`.execute(db);
  return rows[0];
}

/**
 * Checks that a run still has its project, which accepts changes, and the mirror or the import.
 * @throws Ended
 */
export async function confirmPull({ db, input }: JobCall<{ project_id: number }>): Promise<void> {
  const { rows } = await sql`
    select from pull_mirrors join projects on projects.id = pull_mirrors.project_id
     where projects.id = ${input.project_id} and update_status = 'started' and (enabled and not is_paused or import_status in ('scheduled', 'started'))
       and not ${projectState.archived} and not ${projectState.marked_for_deletion}`.execute(db);
  if (rows.length === 0) throw new Ended('The project or its mirror takes no changes any more.');
}

const isTag = (ref: string) => ref.startsWith('refs/tags/');

/**
 * Whether one commit is an ancestor of another.
 * @param isLasting whether the repository is permanent, so that the answer may be cached
 */
async function isBelow(
  repository: Repository,
  { ancestor, descendant, isLasting }: { ancestor: string; descendant: string; isLasting: boolean },
): Promise<boolean> {
  try {
    return await isAncestor(repository, ancestor, descendant, isLasting ? undefined : {});
  } catch (error) {
    // One of the commits is missing here.
    if (error instanceof GitError) return false;
    throw error;
  }
}

/** Whether a branch contains everything on the other server, and further commits pushed here. */
const isAhead = async (repository: Repository, own: string, theirs: string): Promise<boolean> =>
  (await objectHeader(repository, theirs)) !== undefined &&
  (await isBelow(repository, { ancestor: theirs, descendant: own, isLasting: true }));

type Refs = ReadonlyMap<string, string>;

/** The refs to fetch: new ones, and branches with new commits on the other server. Existing tags are never overwritten. */
async function wantedRefs(
  call: Pick<JobServices, 'db'>,
  mirror: Mirror,
  repository: Repository,
  here: Refs,
  there: Refs,
) {
  const selection = {
    only_protected: mirror.only_mirror_protected_branches ?? false,
    regex: mirror.mirror_branch_regex,
  };
  const selected = await selectedRefs(call.db, mirror.project_id, selection, [...there.keys()]);
  const wanted: string[] = [];
  for (const ref of selected) {
    const [own, theirs] = [here.get(ref), there.get(ref)!];
    if (own === theirs || (own !== undefined && isTag(ref))) continue;
    if (own === undefined || !(await isAhead(repository, own, theirs))) wanted.push(ref);
  }
  return wanted;
}

interface Plan {
  updates: RefUpdate[];
  diverged: string[];
}

async function planFor(mirror: Mirror, quarantine: Repository, wanted: readonly string[], here: Refs): Promise<Plan> {
  const fetched = await allRefs(quarantine);
  const plan: Plan = { updates: [], diverged: [] };
  for (const ref of wanted) {
    const [old, target] = [here.get(ref) ?? null, fetched.get(ref)];
    if (target === undefined || old === target) continue;
    const isLeft =
      old !== null &&
      !mirror.mirror_overwrites_diverged_branches &&
      !(await isBelow(quarantine, { ancestor: old, descendant: target, isLasting: false }));
    if (isLeft) plan.diverged.push(ref);
    else plan.updates.push({ ref, old, new: target });
  }
  return plan;
}

/** Sets the default branch of a project that gets its first branches to the default branch of the other server. */
async function followHead(call: Pick<JobServices, 'db' | 'storages'>, mirror: Mirror, head: string | undefined) {
  if (!mirror.empty_repo || head === undefined || head === mirror.default_branch) return mirror.default_branch;
  const { db } = call;
  await db.transaction().execute(async (tx) => {
    const changed = await tx
      .updateTable('projects')
      .set({ default_branch: head })
      .where('id', '=', mirror.project_id)
      .where('empty_repo', '=', true)
      .returning('id')
      .executeTakeFirst();
    // Before the commit: if it fails, nothing has changed but HEAD of an empty repository.
    if (changed) await setHead(repositoryOf(call, { id: mirror.project_id, storage: mirror.storage }), head);
  });
  return head;
}

const undone = (text: string, refs: readonly string[]) => (refs.length === 0 ? [] : [`${text}\n\n${refs.join('\n')}`]);

async function pullFrom(
  call: JobCall<{ project_id: number }>,
  mirror: Mirror,
  remote: Remote,
  place: LargeFilePlace,
): Promise<Pick<Outcome, 'error' | 'may_repeat'>> {
  const { signal } = place;
  const owner = { id: mirror.project_id, storage: mirror.storage };
  const repository = repositoryOf(call, owner);
  const there: RemoteRefs = await remoteRefs(remote, { head: mirror.empty_repo, signal });
  if (there.refs.size > maximumRefs)
    return { error: `The other system has more than ${maximumRefs} branches and tags.`, may_repeat: true };
  const here = await allRefs(repository);
  const wanted = await wantedRefs(call, mirror, repository, here, there.refs);
  const skipped = there.skipped > 0 ? [`${there.skipped} refs have names that are not allowed here.`] : [];
  if (wanted.length === 0) return { error: skipped[0] ?? null, may_repeat: false };
  return fetchAside(remote, repository, { refs: wanted, signal }, async ({ quarantine, accept }) => {
    const { updates: planned, diverged } = await planFor(mirror, quarantine, wanted, here);
    const names = planned.map(({ ref }) => ref);
    const kept = mirror.empty_repo ? new Set<string>() : await keptBranches(call.db, mirror.project_id, names);
    const updates = planned.filter(({ ref }) => !kept.has(ref));
    const [odd] = await oddTreeRefusals(quarantine, { GIT_OBJECT_DIRECTORY: `${quarantine.path}/objects` });
    if (odd !== undefined) return { error: odd, may_repeat: true };
    const targets = updates.flatMap((update) => update.new ?? []);
    const { project_id } = mirror;
    const lacking = await fetchLargeFiles(call, { project_id, repository, quarantine, targets }, place);
    const large = lacking > 0 ? [`${lacking} large files could not be fetched.`] : [];
    const error =
      [...undone(divergedText, diverged), ...undone(keptText, [...kept]), ...large, ...skipped].join('\n\n') || null;
    if (updates.length === 0) return { error, may_repeat: false };
    await accept();
    const default_branch = await followHead(call, mirror, there.head);
    const changes: ProjectMoveDetails = { without_pipelines: !mirror.mirror_trigger_builds };
    const mover = { kind: projectRepositories, owner: { ...owner, default_branch }, user_id: mirror.user_id, changes };
    const problem = await movingProblem(() => moveRefs(call, mover, updates));
    return problem === undefined ? { error, may_repeat: false } : { error: problem, may_repeat: true };
  });
}

/** Why refs could not move, for people. */
async function movingProblem(move: () => Promise<void>): Promise<string | undefined> {
  try {
    await move();
    return undefined;
  } catch (error) {
    if (error instanceof RefConflict) return `${error.ref} cannot exist beside ${error.existing}.`;
    if (error instanceof RefMoved) return 'A branch was pushed to here in the meantime.';
    const text = refusedByMove(error);
    if (text === undefined) throw error;
    return text;
  }
}

/** Keeps a mirror due: it runs as soon as a license allows it again. This is not a failure. */
const keepDue = ({ db }: Pick<JobServices, 'db'>, { id }: Mirror) =>
  db
    .updateTable('pull_mirrors')
    .set({
      update_status: 'failed',
      last_error: 'Pull mirrors need a license for Premium.',
      next_update_at: sql`now()`,
    })
    .where('id', '=', id)
    .execute();

const refused = (error: string): Outcome => ({ error, has_run: false, may_repeat: false, host_keys: [] });

/** Runs a pull mirror, or an import, once. */
export async function runPull(call: JobCall<{ project_id: number }>): Promise<void> {
  const mirror = await begun(call, call.input.project_id);
  if (!mirror) return;
  if (!mirror.is_import && !reaches(await currentPlan(call.db), planOfMirrors)) {
    await keepDue(call, mirror);
    return;
  }
  const most_bytes = mirror.most_mb > 0 ? mirror.most_mb * megabyte : Number.MAX_SAFE_INTEGER;
  const outcome = mirror.is_closed
    ? refused('The project takes no changes.')
    : mirror.may_push
      ? await outcomeOf(call, { mirror, most_bytes }, (remote, how) =>
          pullFrom(call, mirror, remote, { ...how, may_be_local: mirror.may_be_local, most_bytes }),
        )
      : refused('The user of the mirror may not push to the project any more.');
  await end(call, mirror, outcome);
}

/** Ends a run. Failures increase the interval until the next run, and finally pause the mirror. */
async function end(
  { db }: Pick<JobServices, 'db'>,
  mirror: Mirror,
  { error, has_run, may_repeat, host_keys }: Outcome,
) {
  const isDone = has_run && !may_repeat;
  const failures = isDone || mirror.is_closed ? 0 : mirror.failures + 1;
  const is_paused = mirror.enabled && !mirror.is_closed && (!mirror.may_push || failures >= failuresThatPause);
  const pause_min = pauseBeforePull_min(failures, mirror.mirror_max_delay);
  await db.transaction().execute(async (tx) => {
    const ended = await tx
      .updateTable('pull_mirrors')
      .set({
        update_status: isDone ? 'finished' : 'failed',
        last_update_at: sql<string>`now()`,
        ...(isDone ? { last_successful_update_at: sql<string>`now()` } : {}),
        last_error: error,
        failures,
        is_paused,
        next_update_at: sql<string>`now() + make_interval(secs => ${pause_min * 60})`,
        ...(has_run ? { host_keys: [...host_keys] } : {}),
        // An import needs its login only once.
        ...(mirror.enabled ? {} : { login: null, public_key: null }),
      })
      .where('id', '=', mirror.id)
      // The outcome does not apply to another URL.
      .where('url', '=', mirror.url)
      .returning('id')
      .executeTakeFirst();
    if (mirror.is_import)
      await tx
        .updateTable('projects')
        .set({ import_status: isDone ? 'finished' : 'failed', import_error: isDone ? null : error })
        .where('id', '=', mirror.project_id)
        .where('import_status', 'in', ['scheduled', 'started'])
        .execute();
    if (ended && is_paused) await tellOfFailure(tx, mirror.project_id, { kind: 'pull', mirror_id: mirror.id });
  });
}
