/** Push mirrors: other servers to which the repository of a project is copied after each change (docs/reference/mirrors.md). */
import { Type } from 'typebox';
import {
  ApiError,
  del,
  deleteFound,
  get,
  Id,
  mutuallyExclusive,
  nothing,
  one,
  optional,
  pageOf,
  post,
  put,
  resource,
} from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { remoteMirrorKeeper } from './access.ts';
import { addRemoteMirror, changeRemoteMirror, disabledText, syncRemoteMirror, tooManyText } from './actions.ts';
import { BranchRegex, HostKeys, MirrorUrl } from './parameters.ts';
import { presentRemoteMirror, RemoteMirror } from './present.ts';
import { remoteMirrorOf, remoteMirrorsOf } from './queries.ts';
import { maximumMirrors } from './rules.ts';

const path = '/projects/:id/remote_mirrors';
const single = { mirror_id: Id };
const common = { access: remoteMirrorKeeper };

const changes = {
  enabled: optional(Type.Boolean({ description: 'Default false' })),
  auth_method: optional(
    Type.Enum(['password', 'ssh_public_key'], {
      description: 'With `ssh_public_key` a pair of keys is made here; the public one is at `/public_key`',
    }),
  ),
  only_protected_branches: optional(Type.Boolean({ description: 'Default false' })),
  mirror_branch_regex: BranchRegex,
  keep_divergent_refs: optional(
    Type.Boolean({
      description: 'Whether refs that diverged there are left, and nothing is deleted there; default false',
    }),
  ),
  host_keys: HostKeys,
};

const rules = [mutuallyExclusive('only_protected_branches', 'mirror_branch_regex')];
const PublicKey = resource('RemoteMirrorPublicKey', { public_key: Type.String() });

export const remoteMirrorRoutes = [
  get(path, {
    operation: 'listRemoteMirrors',
    summary: 'List the push mirrors of a project, oldest first',
    ...common,
    input: paging,
    returns: pageOf(RemoteMirror),
    handle: async ({ db, project, input }) =>
      mapPage(await paginate(db, remoteMirrorsOf(db, project.id), input), presentRemoteMirror),
  }),
  get(`${path}/:mirror_id`, {
    operation: 'getRemoteMirror',
    summary: 'Show a push mirror',
    ...common,
    input: single,
    returns: one(RemoteMirror),
    handle: async ({ db, project, input }) =>
      presentRemoteMirror(await remoteMirrorOf(db, project.id, input.mirror_id)),
  }),
  get(`${path}/:mirror_id/public_key`, {
    operation: 'getRemoteMirrorPublicKey',
    summary: 'Show the public key with which a push mirror signs in over SSH',
    ...common,
    input: single,
    returns: one(PublicKey),
    refusals: { 404: '404 Not Found' },
    handle: async ({ db, project, input }) => {
      const { public_key } = await remoteMirrorOf(db, project.id, input.mirror_id);
      if (public_key === null) throw new ApiError(404, { message: '404 Not Found' });
      return { public_key };
    },
  }),
  post(path, {
    operation: 'createRemoteMirror',
    summary: 'Add a push mirror to a project',
    description: `There are at most ${maximumMirrors}.`,
    ...common,
    input: { url: MirrorUrl, ...changes },
    rules,
    returns: one(RemoteMirror),
    refusals: { 400: ['url: <reason>', 'mirror_branch_regex: not valid RE2 syntax: <reason>', `base: ${tooManyText}`] },
    handle: async ({ project, input, ...services }) =>
      presentRemoteMirror(await addRemoteMirror(services, project, input)),
  }),
  put(`${path}/:mirror_id`, {
    operation: 'updateRemoteMirror',
    summary: 'Change a push mirror',
    ...common,
    input: { ...single, ...changes },
    rules,
    returns: one(RemoteMirror),
    refusals: { 400: 'mirror_branch_regex: not valid RE2 syntax: <reason>' },
    handle: async ({ project, input: { mirror_id, ...given }, ...services }) =>
      presentRemoteMirror(await changeRemoteMirror(services, project, mirror_id, given)),
  }),
  del(`${path}/:mirror_id`, {
    operation: 'deleteRemoteMirror',
    summary: 'Delete a push mirror with its keys; what it has sent stays there',
    ...common,
    input: single,
    returns: nothing,
    handle: async ({ db, project, input }) => {
      const { id } = await remoteMirrorOf(db, project.id, input.mirror_id);
      await deleteFound(db, 'remote_mirrors', id);
    },
  }),
  post(`${path}/:mirror_id/sync`, {
    operation: 'syncRemoteMirror',
    summary: 'Run a push mirror at once',
    ...common,
    input: single,
    returns: nothing,
    refusals: { 400: disabledText },
    handle: async ({ db, project, input }) => syncRemoteMirror(db, project.id, input.mirror_id),
  }),
];
