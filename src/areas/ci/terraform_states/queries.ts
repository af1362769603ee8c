/** Queries for states of Terraform. */
import { sql } from 'kysely';
import type { BlobKey } from '../../../blobs/index.ts';
import type { Database } from '../../../db/index.ts';
import { notFound, type Services } from '../../../http/index.ts';
import { decrypted } from '../../../secrets/index.ts';
import type { StoredFiles } from '../../../services/index.ts';

/** The purpose with which the keys of versions are sealed. */
export const keyPurpose = 'terraform state key';

export const terraformStateFiles: StoredFiles = {
  table: 'terraform_versions',
  key: 'blob_key',
  kind: 'terraform_states',
  project_id: 'terraform_versions.project_id',
  size_bytes: 'stored_bytes',
  sha256: 'stored_sha256',
  check: {
    noun: 'a version of a Terraform state',
    name: 'serial',
    remedy: 'Restore it from a backup, or push the state again.',
  },
};

/** The states of a project. */
export const statesOf = (db: Database, project_id: number) =>
  db
    .selectFrom('terraform_states')
    .select(['id', 'name', 'updated_at'])
    .select((q) => q.ref('lock_info').$castTo<Record<string, unknown> | null>().as('lock'))
    .select([
      sql<string | null>`(select username from users where users.id = locked_by_id)`.as('locked_by'),
      sql<{ serial: number; size: number; job_id: number | null } | null>`
        (select json_build_object('serial', serial, 'size', size_bytes, 'job_id', job_id) from terraform_versions
          where state_id = terraform_states.id order by serial desc limit 1)`.as('newest'),
    ])
    .where('project_id', '=', project_id);

/** @throws ApiError 404 */
export async function stateNamed(db: Database, project_id: number, name: string) {
  const state = await db
    .selectFrom('terraform_states')
    .select(['id', 'lock_id'])
    .select((q) => q.ref('lock_info').$castTo<Record<string, unknown> | null>().as('lock_info'))
    .where('project_id', '=', project_id)
    .where('name', '=', name)
    .executeTakeFirst();
  if (!state) throw notFound();
  return state;
}

export interface StateVersion {
  id: number;
  content_key: Buffer;
  digest: string;
  blob_key: BlobKey;
}

/** A version of a state: the one with a serial, or the newest. */
export function versionOf(db: Database, state_id: number, serial?: number): Promise<StateVersion | undefined> {
  const query = db
    .selectFrom('terraform_versions')
    .select(['id', 'content_key', 'digest'])
    .select((q) => q.ref('blob_key').$castTo<BlobKey>().as('blob_key'))
    .where('state_id', '=', state_id);
  return (serial === undefined ? query : query.where('serial', '=', serial))
    .orderBy('serial', 'desc')
    .executeTakeFirst();
}

/** The key of a version. @throws Error if the secret key of the server is another one than the one that sealed it */
export function keyOfVersion({ secrets }: Pick<Services, 'secrets'>, { id, content_key }: StateVersion): Buffer {
  const key = secrets.unseal(keyPurpose, content_key);
  if (key === undefined) throw new Error(`the key of version ${id} of a Terraform state cannot be decrypted`);
  return Buffer.from(key, 'base64');
}

/** The state as it was sent. @throws Error if its blob is missing or damaged */
export async function contentOf(services: Pick<Services, 'secrets' | 'blobs'>, version: StateVersion): Promise<Buffer> {
  const key = keyOfVersion(services, version);
  const stream = await services.blobs.read(version.blob_key);
  if (!stream) throw new Error(`the blob ${version.blob_key} is missing`);
  return decrypted(key, Buffer.concat((await Array.fromAsync(stream)) as Buffer[]));
}
