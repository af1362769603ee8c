/** Storing, locking and deleting states of Terraform. */

import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { sql } from 'kysely';
import { newBlobKey, type ReceivedBlob } from '../../../blobs/index.ts';
import { type Database, repeated } from '../../../db/index.ts';
import type { Actor } from '../../../foundation/actors.ts';
import { ApiError, badRequest, conflict, notFound, type Services } from '../../../http/index.ts';
import { digestWith, encrypted } from '../../../secrets/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import { audit } from '../../instance/audit_events/index.ts';
import { removeUnusedBlob, storeBlob, useBlob } from '../../instance/blobs/index.ts';
import type { Granted } from './access.ts';
import { keyOfVersion, keyPurpose, stateNamed, terraformStateFiles, versionOf } from './queries.ts';
import type { Lock } from './rules.ts';

export const takenText = 'version already exists';
export const lockedText = '409 Conflict';

type Place = Pick<Services, 'db' | 'blobs' | 'secrets'>;

/** A state of a project, by its name. */
export interface StateName {
  project_id: number;
  name: string;
}

/** A state, locked for the transaction. @throws ApiError 404 */
async function heldState(tx: Database, { project_id, name }: StateName) {
  const row = await tx
    .selectFrom('terraform_states')
    .select(['id', 'lock_id'])
    .where('project_id', '=', project_id)
    .where('name', '=', name)
    .forUpdate()
    .executeTakeFirst();
  if (!row) throw notFound();
  return row;
}

const addState = (db: Database, { project_id, name }: StateName) =>
  db
    .insertInto('terraform_states')
    .values({ project_id, name })
    .onConflict((conflicting) => conflicting.columns(['project_id', 'name']).doNothing())
    .execute();

/** Deletes the oldest versions of a state beyond those that are kept; the one that was just stored stays, also if its serial is lower. */
async function removeOldVersions(tx: Database, state_id: number, stored: number): Promise<void> {
  const { max_terraform_state_versions: most } = await settingsOf(tx);
  await sql`
    delete from terraform_versions where id in
      (select id from terraform_versions where state_id = ${state_id} order by serial = ${stored} desc, serial desc offset ${most})`.execute(
    tx,
  );
}

interface SentVersion {
  serial: number;
  content: Buffer;
  /** The ID of the lock that the client holds, if any. */
  lock_id: string | undefined;
}

/** @returns whether the blob is used: false if the same version is there already. @throws ApiError 400, 409 */
async function insertVersion(
  tx: Database,
  services: Place,
  { caller, project, name }: Granted & { name: string },
  sent: SentVersion & { key: Buffer; digest: string; blob: ReceivedBlob },
): Promise<boolean> {
  const { serial, content, key, blob } = sent;
  const state = await heldState(tx, { project_id: project.id, name });
  if (state.lock_id !== (sent.lock_id ?? null)) throw conflict(lockedText);
  const known = await versionOf(tx, state.id, serial);
  if (known) {
    if ((await digestWith(keyOfVersion(services, known), content)) === known.digest) return false;
    throw badRequest(takenText);
  }
  await tx
    .insertInto('terraform_versions')
    .values({
      ...{ state_id: state.id, project_id: project.id, serial, job_id: caller.job?.id ?? null },
      ...{ size_bytes: content.length, digest: sent.digest },
      ...{ blob_key: blob.key, stored_bytes: blob.size_bytes, stored_sha256: blob.sha256 },
      content_key: services.secrets.seal(keyPurpose, key.toString('base64')),
    })
    .execute();
  await useBlob(tx, blob.key);
  await tx.updateTable('terraform_states').set({ updated_at: sql<string>`now()` }).where('id', '=', state.id).execute();
  await removeOldVersions(tx, state.id, serial);
  return true;
}

/**
 * Stores a version of a state, which is made if there is none of the name. The same version again changes nothing.
 * @throws ApiError 400 if another version has the serial, 409 unless the client names the lock that is there, and none where there is none
 */
export async function storeVersion(
  services: Place,
  granted: Granted & { name: string },
  sent: SentVersion,
): Promise<void> {
  const { db, blobs } = services;
  await addState(db, { project_id: granted.project.id, name: granted.name });
  const key = randomBytes(32);
  const [stored, digest] = await Promise.all([encrypted(key, sent.content), digestWith(key, sent.content)]);
  const blob = await blobs.receive(newBlobKey(terraformStateFiles.kind), Readable.from([stored]), {
    at_most_bytes: stored.length,
  });
  await storeBlob(db, blob);
  let isUsed = false;
  try {
    isUsed = await repeated(db, (tx) => insertVersion(tx, services, granted, { ...sent, key, digest, blob }));
  } finally {
    if (!isUsed) await removeUnusedBlob(services, blob.key);
  }
}

/**
 * Locks a state, which is made if there is none of the name.
 * @throws ApiError 409 whose body is the lock that is there
 */
export async function lockState(
  db: Database,
  { caller, project, name }: Granted & { name: string },
  { id, info }: Lock,
): Promise<void> {
  await addState(db, { project_id: project.id, name });
  const { numUpdatedRows } = await db
    .updateTable('terraform_states')
    .set({ lock_id: id, lock_info: info, locked_at: sql<string>`now()`, locked_by_id: caller.id })
    .where('project_id', '=', project.id)
    .where('name', '=', name)
    .where('lock_id', 'is', null)
    .executeTakeFirst();
  if (numUpdatedRows > 0n) return;
  const { lock_info } = await stateNamed(db, project.id, name);
  throw new ApiError(409, { message: lockedText, ...lock_info });
}

/**
 * Unlocks a state.
 * @param id of the lock; undefined to unlock whoever holds it
 * @param by who unlocks it
 * @throws ApiError 404, 409 for the ID of another lock
 */
export async function unlockState(db: Database, name: StateName, id: string | undefined, by: Actor): Promise<void> {
  await repeated(db, async (tx) => {
    const state = await heldState(tx, name);
    if (id !== undefined && state.lock_id !== null && state.lock_id !== id) throw conflict(lockedText);
    await tx
      .updateTable('terraform_states')
      .set({ lock_id: null, lock_info: null, locked_at: null, locked_by_id: null })
      .where('id', '=', state.id)
      .execute();
    if (id === undefined && state.lock_id !== null)
      await audit(
        tx,
        {
          event_name: 'terraform_state_unlocked',
          entity: { type: 'Project', id: name.project_id },
          target: { id: state.id, type: 'Terraform::State', details: name.name },
          details: { custom_message: 'Unlocked it without the ID of the lock' },
        },
        by,
      );
  });
}

/**
 * Deletes a state with its versions, whose files a job deletes.
 * @throws ApiError 404, 409 while it is locked
 */
export async function deleteState(db: Database, name: StateName): Promise<void> {
  await repeated(db, async (tx) => {
    const { id, lock_id } = await heldState(tx, name);
    if (lock_id !== null) throw conflict(lockedText);
    await tx.deleteFrom('terraform_states').where('id', '=', id).execute();
  });
}
