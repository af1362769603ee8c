/** Configures and schedules pull mirrors and imports (docs/reference/mirrors.md#pull-mirrors). */
import { sql } from 'kysely';
import { currentPlan, levels } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { badRequest, type Caller, forbidden, Id, invalid, reaches } from '../../../http/index.ts';
import { peerQueueOf } from '../../../jobs/index.ts';
import type { Secrets } from '../../../secrets/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import { refuseUnavailable } from './access.ts';
import { checkedAddress, checkRegex, mirrorPeers, newKeys, personOf } from './actions.ts';
import { loginIn, type PullMirrorRow, pullMirrorOf, sealedLogin } from './queries.ts';
import { hostKeyIn, type Login, type MirrorAddress } from './rules.ts';

export const notMirroredText = 'The project is not mirrored';
export const pausedText = 'Mirroring for the project is on pause';

/** The plan required for pull mirrors; a one-time import requires none. */
export const planOfMirrors = 'premium' as const;

/** Runs the pull mirror of a project, or imports it. */
export const pullQueue = peerQueueOf('pull_mirror', { input: { project_id: Id }, retries: 3, peer: mirrorPeers });

/** Schedules a pull: one run at a time. */
async function pullSoon(tx: Database, project_id: number, after_s = 0): Promise<void> {
  const person = await personOf(tx, project_id);
  await pullQueue.enqueue(
    tx,
    { project_id },
    { key: String(project_id), person, id: project_id, ...(after_s > 0 ? { after_s } : {}) },
  );
}

/** The settings of a pull mirror in a request. */
export interface PullMirrorChanges {
  enabled?: boolean | undefined;
  /** Null and an empty text remove the mirror. */
  url?: string | null | undefined;
  auth_user?: string | undefined;
  auth_password?: string | undefined;
  user_id?: number | undefined;
  mirror_trigger_builds?: boolean | undefined;
  only_mirror_protected_branches?: boolean | undefined;
  mirror_overwrites_diverged_branches?: boolean | undefined;
  mirror_branch_regex?: string | null | undefined;
  host_keys?: readonly string[] | undefined;
}

interface Preparation {
  db: Database;
  /** The parameter with the URL, for error messages. */
  field: 'url' | 'import_url';
  secrets: Secrets;
  caller: Pick<Caller, 'id' | 'admin'>;
}

/** Changes that were validated before the transaction that writes them. */
export interface PreparedPull {
  changes: PullMirrorChanges;
  address: MirrorAddress | undefined;
}

const isLogin = (text: string) => !/[\r\n\0]/.test(text);

/**
 * Validates the settings.
 * @throws ApiError 400 with the reasons
 */
export async function preparedPull(
  { db, caller, field }: Preparation,
  changes: PullMirrorChanges,
): Promise<PreparedPull> {
  const address = changes.url ? await checkedAddress(db, changes.url, field) : undefined;
  await checkRegex(changes.mirror_branch_regex);
  for (const name of ['auth_user', 'auth_password'] as const)
    if (!isLogin(changes[name] ?? '')) throw invalid({ [name]: ['is invalid'] });
  if (changes.user_id !== undefined && changes.user_id !== caller.id && !caller.admin)
    throw invalid({ mirror_user_id: ['is invalid'] });
  return { changes, address };
}

/** The login after a change: a new URL keeps nothing of the old login, and over SSH gets a new key pair unless it has a password. */
function loginAfter(
  secrets: Secrets,
  before: PullMirrorRow | undefined,
  { changes: { auth_user, auth_password }, address }: PreparedPull,
): { login: Login; public_key: string | null } {
  const known = (before && loginIn(secrets, before.login)) ?? {};
  const url = address?.url ?? before?.url ?? '';
  const start = address?.login ?? known;
  const given = {
    ...start,
    ...(auth_user === undefined ? {} : { username: auth_user }),
    ...(auth_password === undefined ? {} : { password: auth_password }),
  };
  const { private_key: _, ...login }: Login = Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== ''),
  );
  if (!url.startsWith('ssh:') || login.password !== undefined) return { login, public_key: null };
  const kept = before?.url === url && before.public_key !== null && known.private_key !== undefined;
  const keys = kept ? { private_key: known.private_key!, public_key: before.public_key! } : newKeys();
  return { login: { ...login, private_key: keys.private_key }, public_key: keys.public_key };
}

/** @param takesOver whether the caller replaces a user who may no longer push */
function columnsFor(
  { secrets, caller }: Preparation,
  before: PullMirrorRow | undefined,
  prepared: PreparedPull,
  takesOver: boolean,
) {
  const { changes, address } = prepared;
  const {
    enabled,
    auth_user,
    auth_password,
    only_mirror_protected_branches: only,
    mirror_branch_regex: regex,
  } = changes;
  const hasLogin = address !== undefined || auth_user !== undefined || auth_password !== undefined;
  const login = hasLogin ? loginAfter(secrets, before, prepared) : undefined;
  const url = address?.url ?? before?.url ?? '';
  const hides = (given: Login) =>
    given.password !== undefined || (given.username !== undefined && !url.startsWith('ssh:'));
  const isBegun = enabled === true && !before?.enabled;
  return {
    ...(enabled === undefined ? {} : { enabled }),
    ...(address && address.url !== before?.url ? { url: address.url, host_keys: [] } : {}),
    ...(changes.host_keys ? { host_keys: changes.host_keys.map((line) => hostKeyIn(line)!) } : {}),
    ...(login
      ? { login: sealedLogin(secrets, login.login), hides_login: hides(login.login), public_key: login.public_key }
      : {}),
    ...(changes.user_id === undefined
      ? isBegun || takesOver || address || before?.user_id === null
        ? { user_id: caller.id }
        : {}
      : { user_id: changes.user_id }),
    ...(changes.mirror_trigger_builds === undefined ? {} : { mirror_trigger_builds: changes.mirror_trigger_builds }),
    ...(changes.mirror_overwrites_diverged_branches === undefined
      ? {}
      : { mirror_overwrites_diverged_branches: changes.mirror_overwrites_diverged_branches }),
    ...(only === undefined
      ? {}
      : { only_mirror_protected_branches: only, ...(only ? { mirror_branch_regex: null } : {}) }),
    ...(regex === undefined
      ? {}
      : { mirror_branch_regex: regex || null, ...(regex ? { only_mirror_protected_branches: null } : {}) }),
  };
}

/** Whether a mirror's changes can be attributed to a user: the user must be allowed to push. */
async function mayPull(tx: Database, project_id: number, user_id: number): Promise<boolean> {
  const { rows } = await sql<{ may: boolean }>`
    select users.state = 'active' and (users.admin or exists (
             select from project_authorizations where project_id = ${project_id} and user_id = users.id and access_level >= ${levels.maintainer})) as may
      from users where id = ${user_id}`.execute(tx);
  return rows[0]?.may === true;
}

/**
 * Writes the prepared changes. A mirror runs when it is enabled or gets another URL; this also ends a pause.
 * @param tx the transaction of the change
 * @throws ApiError 400 without a URL, or if the user may not push
 */
export async function setPullMirror(
  tx: Database,
  preparation: Preparation,
  project_id: number,
  prepared: PreparedPull,
): Promise<PullMirrorRow> {
  await tx.selectFrom('projects').select('id').where('id', '=', project_id).forUpdate().execute();
  const before = await pullMirrorOf(tx, project_id);
  const takesOver =
    prepared.changes.enabled === true && before?.user_id != null && !(await mayPull(tx, project_id, before.user_id));
  const columns = columnsFor(preparation, before, prepared, takesOver);
  if (!prepared.address && !before?.url) throw invalid({ [preparation.field]: ["can't be blank"] });
  if (columns.user_id != null && !(await mayPull(tx, project_id, columns.user_id)))
    throw invalid({ mirror_user_id: ['is invalid'] });
  const isEnabled = columns.enabled ?? before?.enabled ?? false;
  const runs = isEnabled && (prepared.changes.enabled === true || prepared.address !== undefined);
  const due = runs
    ? {
        update_status: 'scheduled',
        is_paused: false,
        failures: 0,
        next_update_at: sql<string>`now() + interval '4 hours'`,
      }
    : {};
  const row = before
    ? await tx
        .updateTable('pull_mirrors')
        .set({ project_id, ...columns, ...due })
        .where('project_id', '=', project_id)
        .returningAll()
        .executeTakeFirstOrThrow()
    : await tx
        .insertInto('pull_mirrors')
        .values({ project_id, url: prepared.address!.url, ...columns, ...due })
        .returningAll()
        .executeTakeFirstOrThrow();
  if (runs) await pullSoon(tx, project_id);
  return row;
}

/** The settings of projects for their mirror, by parameter name. */
export interface ProjectMirrorChanges
  extends Omit<PullMirrorChanges, 'enabled' | 'url' | 'auth_user' | 'auth_password' | 'user_id' | 'host_keys'> {
  import_url?: string | null | undefined;
  mirror?: boolean | undefined;
  mirror_user_id?: number | undefined;
}

const changesFrom = (given: ProjectMirrorChanges): PullMirrorChanges => ({
  enabled: given.mirror,
  url: given.import_url,
  user_id: given.mirror_user_id,
  mirror_trigger_builds: given.mirror_trigger_builds,
  only_mirror_protected_branches: given.only_mirror_protected_branches,
  mirror_overwrites_diverged_branches: given.mirror_overwrites_diverged_branches,
  mirror_branch_regex: given.mirror_branch_regex,
});

type Asking = Omit<Preparation, 'field'>;

/**
 * Schedules filling a new project from another server, once or, as a mirror, continuously.
 * @returns the work for the transaction that adds the project
 * @throws ApiError 400 with the reasons, 403 if only administrators can set up mirrors
 */
export async function importIn(
  asking: Asking,
  given: ProjectMirrorChanges,
): Promise<(tx: Database, id: number) => Promise<void>> {
  if (!given.import_url && !given.mirror) return async () => {};
  const preparation = { ...asking, field: 'import_url' as const };
  if (given.mirror) await refuseUnavailable(asking.db, asking.caller);
  const prepared = await preparedPull(preparation, {
    ...changesFrom(given),
    user_id: given.mirror_user_id ?? asking.caller.id,
  });
  return async (tx, id) => {
    await setPullMirror(tx, preparation, id, prepared);
    await tx.updateTable('projects').set({ import_status: 'scheduled' }).where('id', '=', id).execute();
    if (!given.mirror) await pullSoon(tx, id);
  };
}

/**
 * Changes the mirror of a project.
 * @returns the work for the transaction that changes the project
 * @throws ApiError 400 with the reasons, 403 if only administrators can set up mirrors
 */
export async function mirrorChangeIn(
  asking: Asking,
  given: ProjectMirrorChanges,
): Promise<(tx: Database, id: number) => Promise<void>> {
  const changes = changesFrom(given);
  if (Object.values(changes).every((value) => value === undefined)) return async () => {};
  await refuseUnavailable(asking.db, asking.caller);
  const preparation = { ...asking, field: 'import_url' as const };
  const prepared = await preparedPull(preparation, changes);
  const isRemoved = given.import_url !== undefined && !given.import_url && !given.mirror;
  return async (tx, id) => {
    if (isRemoved) await tx.deleteFrom('pull_mirrors').where('project_id', '=', id).execute();
    // There is no mirror to turn off.
    else if (changes.enabled || prepared.address || (await pullMirrorOf(tx, id)))
      await setPullMirror(tx, preparation, id, prepared);
  };
}

/** The shortest interval between requested runs. */
const rest_s = 300;

/**
 * Schedules a pull at once, or some minutes after the last run.
 * @throws ApiError 400 if the project is not mirrored, 403 if the mirror is paused
 */
export async function syncPullMirror(db: Database, project_id: number): Promise<void> {
  const mirror = await pullMirrorOf(db, project_id);
  if (!mirror?.enabled) throw badRequest(notMirroredText);
  if (mirror.is_paused) throw forbidden(pausedText);
  const ago_s = mirror.last_update_at === null ? rest_s : (Date.now() - Date.parse(mirror.last_update_at)) / 1000;
  await db.transaction().execute(async (tx) => {
    await tx
      .updateTable('pull_mirrors')
      .set({ update_status: 'scheduled', next_update_at: sql<string>`now() + interval '4 hours'` })
      .where('project_id', '=', project_id)
      .where('update_status', '<>', 'started')
      .execute();
    await pullSoon(tx, project_id, Math.max(0, Math.ceil(rest_s - ago_s)));
  });
}

/**
 * Schedules the mirrors that are due, within the free capacity. A lost run is due again after some hours. Without the plan, mirrors stay due until there is one
 * again.
 */
export async function scheduleDuePulls(db: Database): Promise<void> {
  if (!reaches(await currentPlan(db), planOfMirrors)) return;
  const { mirror_max_capacity: most, mirror_capacity_threshold } = await settingsOf(db);
  const threshold = Math.min(mirror_capacity_threshold, Math.ceil(most / 2));
  await db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ project_id: number }>`
      with room as (
        select ${most}::int - count(*)::int as free from pull_mirrors
         where enabled and not is_paused and next_update_at > now() and update_status in ('scheduled', 'started')
      ), due as (
        select id from pull_mirrors, room
         where enabled and not is_paused and next_update_at <= now() and free >= ${threshold}
         order by next_update_at limit greatest(0, (select free from room)) for update of pull_mirrors skip locked
      )
      update pull_mirrors set update_status = 'scheduled', next_update_at = now() + interval '4 hours'
        from due where pull_mirrors.id = due.id returning project_id`.execute(tx);
    for (const { project_id } of rows) await pullSoon(tx, project_id);
  });
}
