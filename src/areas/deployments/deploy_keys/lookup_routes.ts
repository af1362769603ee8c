/** Looking up the owner of an SSH key (docs/reference/keys.md#look-up). */
import { type Static, Type } from 'typebox';
import { admin } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  badRequest,
  type Caller,
  found,
  get,
  Id,
  nullable,
  one,
  optional,
  resource,
  type Services,
  Timestamp,
} from '../../../http/index.ts';
import { presentUserForAdmin, UserForAdmin, userInFull } from '../../people/users/index.ts';
import { allKeys, keysPrinted } from './lookup_queries.ts';

const KeyWithUser = resource('KeyWithUser', {
  id: Id,
  title: Type.String(),
  created_at: Timestamp,
  expires_at: nullable(Timestamp),
  last_used_at: nullable(Timestamp),
  key: Type.String(),
  usage_type: Type.String(),
  user: nullable(UserForAdmin),
  deploy_keys_projects: optional(
    Type.Array(
      Type.Object({
        id: Id,
        deploy_key_id: Id,
        project_id: Id,
        created_at: Timestamp,
        updated_at: Timestamp,
        can_push: Type.Boolean(),
      }),
      { description: 'Of deploy keys only' },
    ),
  ),
});

type KeyRow = Awaited<ReturnType<ReturnType<typeof allKeys>['executeTakeFirstOrThrow']>>;

/** The user of a deploy key is the first user who added it. */
async function present(
  { db, url }: Pick<Services, 'url'> & { db: Database },
  caller: Caller,
  { user_id, created_by_id, deploy_keys_projects, ...key }: KeyRow,
): Promise<Static<typeof KeyWithUser>> {
  const id = user_id ?? created_by_id;
  const user = id === null ? null : presentUserForAdmin(url, await userInFull(db, caller, id));
  return { ...key, user, ...(user_id === null ? { deploy_keys_projects } : {}) };
}

const noFingerprint = 'Failed to return the key';

export const keyLookupRoutes = [
  get('/keys', {
    operation: 'findKey',
    summary: 'Find the SSH key or deploy key with a fingerprint',
    access: admin,
    input: { fingerprint: Type.String({ description: '`SHA256:` and Base64, or MD5 as `aa:bb:…`' }) },
    returns: one(KeyWithUser),
    refusals: { 400: noFingerprint, 404: '404 Key Not Found' },
    handle: async ({ caller, input, ...services }) => {
      const keys = keysPrinted(services.db, input.fingerprint);
      if (!keys) throw badRequest(noFingerprint);
      return present(services, caller, found('Key', await keys.executeTakeFirst()));
    },
  }),
  get('/keys/:id', {
    operation: 'getKeyWithUser',
    summary: 'Show an SSH key with its user',
    access: admin,
    input: { id: Id },
    returns: one(KeyWithUser),
    handle: async ({ caller, input, ...services }) => {
      const keys = allKeys(services.db).where('id', '=', input.id).where('user_id', 'is not', null);
      return present(services, caller, found(undefined, await keys.executeTakeFirst()));
    },
  }),
];
