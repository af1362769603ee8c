/** Adding, changing and scheduling push mirrors (docs/reference/mirrors.md). */
import { generateKeyPairSync } from 'node:crypto';
import { sql } from 'kysely';
import type { Project } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { checkExpression, InvalidExpression } from '../../../expressions/index.ts';
import { badRequest, found, Id, invalid, type Services } from '../../../http/index.ts';
import { type PeerRules, peerQueueOf } from '../../../jobs/index.ts';
import type { PushFollower } from '../../../services/index.ts';
import { privateKeyText, publicKeyText } from '../../../ssh/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import { loginIn, type RemoteMirrorRow, remoteMirrorOf, sealedLogin } from './queries.ts';
import { addressIn, hostKeyIn, type Login, type MirrorAddress, maximumMirrors } from './rules.ts';

export const disabledText = 'Cannot proceed with the push mirroring. Please verify your mirror configuration.';
export const tooManyText = `Maximum number of push mirrors (${maximumMirrors}) exceeded`;

/** Further mirrors and imports of the same person wait. */
export const mirrorPeers: PeerRules = { per_person: 2 };

/** Runs a push mirror. */
export const pushQueue = peerQueueOf('push_mirror', { input: { remote_mirror_id: Id }, retries: 3, peer: mirrorPeers });

/** Schedules a push mirror: one run at a time, and a further one for changes made meanwhile. */
export async function pushSoon(
  tx: Database,
  { id, project_id }: Pick<RemoteMirrorRow, 'id' | 'project_id'>,
  after_s = 0,
): Promise<void> {
  const person = await personOf(tx, project_id);
  await pushQueue.enqueue(
    tx,
    { remote_mirror_id: id },
    { key: String(id), person, id, ...(after_s > 0 ? { after_s } : {}) },
  );
}

/** The user whose quota the mirrors of a project count against: its creator. It changes only when that account is deleted, so a mirror does not run twice at once. */
export async function personOf(tx: Database, project_id: number): Promise<number | null> {
  const project = tx.selectFrom('projects').select('creator_id').where('id', '=', project_id);
  return (await project.executeTakeFirst())?.creator_id ?? null;
}

/**
 * Reads the URL of a mirror.
 * @param field the parameter with the URL
 * @throws ApiError 400 with the reason
 */
export async function checkedAddress(db: Database, url: string, field: string): Promise<MirrorAddress> {
  const { allow_local_requests_from_web_hooks_and_services: mayBeLocal } = await settingsOf(db);
  const address = addressIn(url, mayBeLocal);
  if (typeof address === 'string') throw invalid({ [field]: [address] });
  return address;
}

/** @throws ApiError 400 if the syntax is not RE2 */
export async function checkRegex(regex: string | null | undefined): Promise<void> {
  if (!regex) return;
  try {
    await checkExpression({ source: regex });
  } catch (error) {
    if (!(error instanceof InvalidExpression)) throw error;
    throw invalid({ mirror_branch_regex: [`not valid RE2 syntax: ${error.reason}`] });
  }
}

/** The settings of a push mirror in a request, without the URL. */
export interface RemoteMirrorChanges {
  enabled?: boolean;
  auth_method?: 'password' | 'ssh_public_key';
  only_protected_branches?: boolean;
  mirror_branch_regex?: string | null;
  keep_divergent_refs?: boolean;
  host_keys?: readonly string[];
}

/** A new key pair: the private key of a mirror is generated here and never leaves the server. */
export function newKeys(): { private_key: string; public_key: string } {
  const { privateKey } = generateKeyPairSync('ed25519');
  return { private_key: privateKeyText(privateKey), public_key: `${publicKeyText(privateKey)} coppice-mirror` };
}

/** A login after its method was chosen. Only SSH uses keys. */
function loginBy(
  method: 'password' | 'ssh_public_key',
  { url, login: before }: Pick<MirrorAddress, 'url' | 'login'>,
): { login: Login; public_key: string | null } {
  const { private_key: _, ...others } = before;
  if (method === 'password' || !url.startsWith('ssh:')) return { login: others, public_key: null };
  const { private_key, public_key } = newKeys();
  return { login: { ...others, private_key }, public_key };
}

/** The choice between protected branches and an expression: setting one clears the other. */
const choiceOf = ({ only_protected_branches, mirror_branch_regex }: RemoteMirrorChanges) => ({
  ...(only_protected_branches === undefined ? {} : { only_protected_branches }),
  ...(only_protected_branches ? { mirror_branch_regex: null } : {}),
  ...(mirror_branch_regex === undefined ? {} : { mirror_branch_regex: mirror_branch_regex || null }),
  ...(mirror_branch_regex ? { only_protected_branches: false } : {}),
});

const flagsOf = ({ enabled, keep_divergent_refs, host_keys }: RemoteMirrorChanges) => ({
  ...(enabled === undefined ? {} : { enabled }),
  ...(keep_divergent_refs === undefined ? {} : { keep_divergent_refs }),
  ...(host_keys === undefined ? {} : { host_keys: host_keys.map((line) => hostKeyIn(line)!) }),
});

/**
 * Adds a push mirror, which runs at once if it is enabled.
 * @throws ApiError 400 for an address that is not allowed, an expression that does not compile, or too many mirrors
 */
export async function addRemoteMirror(
  { db, secrets }: Services,
  project: Pick<Project, 'id'>,
  { url, ...given }: RemoteMirrorChanges & { url: string },
): Promise<RemoteMirrorRow> {
  const address = await checkedAddress(db, url, 'url');
  await checkRegex(given.mirror_branch_regex);
  const auth_method = given.auth_method ?? 'password';
  const { login, public_key } = loginBy(auth_method, address);
  return db.transaction().execute(async (tx) => {
    // Serialised, so that two concurrent requests cannot exceed the limit together.
    found(
      'Project',
      await tx.selectFrom('projects').select('id').where('id', '=', project.id).forUpdate().executeTakeFirst(),
    );
    const { count } = await tx
      .selectFrom('remote_mirrors')
      .select(sql<number>`count(*)::int`.as('count'))
      .where('project_id', '=', project.id)
      .executeTakeFirstOrThrow();
    if (count >= maximumMirrors) throw invalid({ base: [tooManyText] });
    const row = await tx
      .insertInto('remote_mirrors')
      .values({
        project_id: project.id,
        url: address.url,
        login: sealedLogin(secrets, login),
        hides_login: address.hides_login,
        auth_method,
        public_key,
        ...flagsOf(given),
        ...choiceOf(given),
        ...(given.enabled ? { update_status: 'scheduled' } : {}),
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    if (row.enabled) await pushSoon(tx, row);
    return row;
  });
}

/**
 * Changes a push mirror. It runs when it becomes enabled.
 * @throws ApiError 400 for an expression that does not compile, 404
 */
export async function changeRemoteMirror(
  { db, secrets }: Services,
  project: Pick<Project, 'id'>,
  id: number,
  changes: RemoteMirrorChanges,
): Promise<RemoteMirrorRow> {
  await checkRegex(changes.mirror_branch_regex);
  return db.transaction().execute(async (tx) => {
    await tx.selectFrom('remote_mirrors').select('id').where('id', '=', id).forUpdate().execute();
    const before = await remoteMirrorOf(tx, project.id, id);
    const method = changes.auth_method;
    const login = method !== undefined && method !== before.auth_method && loginIn(secrets, before.login);
    const { login: changed, public_key } = login ? loginBy(method!, { url: before.url, login }) : {};
    const isStarting = changes.enabled === true && !before.enabled;
    const isStopped = changes.enabled === false && ['scheduled', 'to_retry'].includes(before.update_status);
    const set = {
      ...flagsOf(changes),
      ...choiceOf(changes),
      ...(changed
        ? { auth_method: method!, login: sealedLogin(secrets, changed), public_key: public_key ?? null }
        : {}),
      ...(isStarting ? { update_status: 'scheduled', failures: 0 } : {}),
      ...(isStopped ? { update_status: 'none' } : {}),
    };
    if (Object.keys(set).length === 0) return before;
    const after = await tx
      .updateTable('remote_mirrors')
      .set(set)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow();
    if (isStarting) await pushSoon(tx, after);
    return after;
  });
}

/**
 * Schedules a push mirror to run at once.
 * @throws ApiError 400 if it is disabled, 404
 */
export async function syncRemoteMirror(db: Database, project_id: number, id: number): Promise<void> {
  const { enabled } = await remoteMirrorOf(db, project_id, id);
  if (!enabled) throw badRequest(disabledText);
  await db.transaction().execute(async (tx) => {
    await tx
      .updateTable('remote_mirrors')
      .set({ update_status: 'scheduled' })
      .where('id', '=', id)
      .where('update_status', '<>', 'started')
      .execute();
    await pushSoon(tx, { id, project_id });
  });
}

/** Changes in quick succession are gathered for this long; `gaps_s` has the shortest intervals between runs. */
const gather_s = 3;
const gaps_s = { protected: 60, all: 300 };

/** Schedules the push mirrors of a project after changes. */
export const mirrorFollower: PushFollower = {
  follow:
    async (_services, { owner, moved }) =>
    async (tx) => {
      if (!moved.some(({ ref }) => /^refs\/(?:heads|tags)\//.test(ref))) return;
      const { rows } = await sql<{ id: number; after_s: number }>`
        update remote_mirrors set update_status = case update_status when 'started' then 'started' else 'scheduled' end
         where project_id = ${owner.id} and enabled
        returning id, greatest(${gather_s}::int, ceil(extract(epoch from last_update_started_at - now()))::int
                                 + case when only_protected_branches then ${gaps_s.protected}::int else ${gaps_s.all}::int end) as after_s`.execute(
        tx,
      );
      for (const { id, after_s } of rows) await pushSoon(tx, { id, project_id: owner.id }, after_s);
    },
};
