/** Client keys: the addresses that applications send their errors to. */
import { Type } from 'typebox';
import { type Project, projectRole } from '../../../../access/index.ts';
import {
  del,
  deleteFound,
  found,
  get,
  Id,
  nothing,
  offeredOn,
  one,
  pageOf,
  post,
  resource,
} from '../../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../../lists/index.ts';
import { addKey, maximumKeys, tooManyKeysText } from './actions.ts';
import { dsnOf } from './rules.ts';

const ClientKey = resource('ErrorTrackingClientKey', {
  id: Id,
  active: Type.Boolean(),
  public_key: Type.String(),
  sentry_dsn: Type.String({ description: 'What an SDK is configured with' }),
});

const present = (url: string, project: Project) => (key: { id: number; active: boolean; public_key: string }) => ({
  ...key,
  sentry_dsn: dsnOf(url, project, key.public_key),
});

const path = '/projects/:id/error_tracking/client_keys';
const access = projectRole('maintainer');

export const clientKeyRoutes = offeredOn(
  ['hosted'],
  [
    get(path, {
      operation: 'listErrorTrackingClientKeys',
      summary: 'List the client keys of a project, oldest first',
      access,
      input: paging,
      returns: pageOf(ClientKey),
      handle: async ({ db, project, url, input }) => {
        const keys = db
          .selectFrom('error_tracking_client_keys')
          .select(['id', 'active', 'public_key'])
          .where('project_id', '=', project.id)
          .orderBy('id');
        return mapPage(await paginate(db, keys, input), present(url, project));
      },
    }),
    post(path, {
      operation: 'createErrorTrackingClientKey',
      summary: 'Create a client key',
      description: `A project has at most ${maximumKeys} client keys. To rotate a key, create a new one, configure the applications with it, and delete the old one.`,
      access,
      returns: one(ClientKey),
      refusals: { 400: `base: ${tooManyKeysText}` },
      handle: async ({ db, project, url }) => present(url, project)(await addKey(db, project)),
    }),
    del(`${path}/:key_id`, {
      operation: 'deleteErrorTrackingClientKey',
      summary: 'Delete a client key',
      description: 'Errors that are sent with it are refused within five seconds.',
      access,
      input: { key_id: Id },
      returns: nothing,
      handle: async ({ db, project, input }) => {
        const key = db
          .selectFrom('error_tracking_client_keys')
          .select('id')
          .where('project_id', '=', project.id)
          .where('id', '=', input.key_id);
        const { id } = found(undefined, await key.executeTakeFirst());
        await deleteFound(db, 'error_tracking_client_keys', id);
      },
    }),
  ],
);
