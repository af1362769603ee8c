/** Deploy keys: SSH keys that can fetch the code of projects, and push to projects that allow it (docs/reference/deploy_keys.md). */
import { type Static, Type } from 'typebox';
import { admin, projectRole, signedIn } from '../../../access/index.ts';
import {
  atLeastOneOf,
  checked,
  del,
  get,
  Id,
  IdOrName,
  nothing,
  nullable,
  one,
  optional,
  pageOf,
  post,
  put,
  resource,
  Timestamp,
} from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { keyReasons, titleReasons } from '../../people/keys/index.ts';
import { userIdNamed } from '../../people/users/index.ts';
import { addDeployKey, changeDeployKey, enableDeployKey, removeDeployKey } from './actions.ts';
import {
  type AnyDeployKeyRow,
  allDeployKeys,
  type DeployKeyRow,
  deployKeyOf,
  deployKeysOf,
  deployKeysShared,
  md5Fingerprint,
} from './queries.ts';

const fields = {
  id: Id,
  title: Type.String(),
  key: Type.String(),
  fingerprint: Type.String({ description: 'MD5' }),
  fingerprint_sha256: Type.String(),
  created_at: Timestamp,
  expires_at: nullable(Timestamp),
};
const DeployKey = resource('DeployKey', { ...fields, can_push: Type.Boolean() });
const DeployKeyProject = resource('DeployKeyProject', {
  id: Id,
  description: nullable(Type.String()),
  name: Type.String(),
  name_with_namespace: Type.String(),
  path: Type.String(),
  path_with_namespace: Type.String(),
  created_at: Timestamp,
});
const AnyDeployKey = resource('AnyDeployKey', {
  ...fields,
  projects_with_write_access: Type.Array(DeployKeyProject),
  projects_with_readonly_access: Type.Array(DeployKeyProject),
});

function presentFields({ id, title, key, fingerprint_sha256, created_at, expires_at }: Omit<DeployKeyRow, 'can_push'>) {
  const fingerprints = { fingerprint: md5Fingerprint(key), fingerprint_sha256: `SHA256:${fingerprint_sha256}` };
  return { id, title, key, ...fingerprints, created_at, expires_at };
}

const present = (row: DeployKeyRow): Static<typeof DeployKey> => ({ ...presentFields(row), can_push: row.can_push });

const presentAny = (row: AnyDeployKeyRow): Static<typeof AnyDeployKey> => ({
  ...presentFields(row),
  projects_with_write_access: row.writing,
  projects_with_readonly_access: row.reading,
});

const path = '/projects/:id/deploy_keys';
/** Keys of an archived project can still be removed. */
const access = projectRole('maintainer', { archived: true });
const single = { key_id: Id };
const canPush = { description: 'Whether the key may push to the project' };

export const deployKeyRoutes = [
  get('/users/:id/project_deploy_keys', {
    operation: 'listUserProjectDeployKeys',
    summary: 'List the deploy keys of the projects that a user and the caller both maintain, oldest first',
    access: signedIn,
    input: { id: IdOrName('ID or username'), ...paging },
    returns: pageOf(AnyDeployKey),
    refusals: { 404: '404 User Not Found' },
    handle: async ({ db, caller, input }) => {
      const keys = deployKeysShared(db, caller, await userIdNamed(db, input.id));
      return mapPage(await paginate(db, keys, input), presentAny);
    },
  }),
  get('/deploy_keys', {
    operation: 'listDeployKeys',
    summary: 'List the deploy keys of all projects, oldest first',
    access: admin,
    input: {
      public: optional(Type.Boolean({ description: '`true` lists none: no deploy key is public here' })),
      ...paging,
    },
    returns: pageOf(AnyDeployKey),
    handle: async ({ db, input }) => {
      const keys = allDeployKeys(db);
      return mapPage(await paginate(db, input.public ? keys.where('keys.id', '<', 0) : keys, input), presentAny);
    },
  }),
  get(path, {
    operation: 'listProjectDeployKeys',
    summary: 'List the deploy keys of a project, oldest first',
    access,
    input: paging,
    returns: pageOf(DeployKey),
    handle: async ({ db, project, input }) => mapPage(await paginate(db, deployKeysOf(db, project.id), input), present),
  }),
  get(`${path}/:key_id`, {
    operation: 'getProjectDeployKey',
    summary: 'Show a deploy key of a project',
    access,
    input: single,
    returns: one(DeployKey),
    handle: async ({ db, project, input }) => present(await deployKeyOf(db, project.id, input.key_id)),
  }),
  post(path, {
    operation: 'createProjectDeployKey',
    summary: 'Add a deploy key to a project',
    description:
      'A key that is a deploy key of another project already stays one key: its title and end do not change.',
    access,
    input: {
      title: checked(Type.String({ description: 'At most 255 characters' }), titleReasons),
      key: checked(Type.String({ description: 'Public key, as in an `id_*.pub` file' }), keyReasons),
      can_push: Type.Boolean({ default: false, ...canPush }),
      expires_at: optional(Timestamp),
    },
    returns: one(DeployKey),
    refusals: { 400: ['fingerprint: has already been taken', 'key: <reason>'] },
    handle: async ({ db, caller, project, input }) =>
      present(await deployKeyOf(db, project.id, await addDeployKey(db, caller, project.id, input))),
  }),
  put(`${path}/:key_id`, {
    operation: 'updateProjectDeployKey',
    summary: 'Update a deploy key',
    description: 'The title belongs to the key, and changes in all projects that have it.',
    access,
    input: {
      ...single,
      title: optional(checked(Type.String(), titleReasons)),
      can_push: optional(Type.Boolean(canPush)),
    },
    rules: [atLeastOneOf('title', 'can_push')],
    returns: one(DeployKey),
    handle: async ({ db, project, input }) => {
      await changeDeployKey(db, project.id, input.key_id, input);
      return present(await deployKeyOf(db, project.id, input.key_id));
    },
  }),
  del(`${path}/:key_id`, {
    operation: 'deleteProjectDeployKey',
    summary: 'Remove a deploy key from a project',
    description: 'A key that no other project has is deleted.',
    access,
    input: single,
    returns: nothing,
    handle: ({ db, project, input }) => removeDeployKey(db, project.id, input.key_id),
  }),
  post(`${path}/:key_id/enable`, {
    operation: 'enableProjectDeployKey',
    summary: 'Add a deploy key of another project to a project, to read only',
    access,
    input: single,
    returns: one(DeployKey),
    handle: async ({ db, caller, project, input }) => {
      await enableDeployKey(db, caller, project.id, input.key_id);
      return present(await deployKeyOf(db, project.id, input.key_id));
    },
  }),
];
